package native

// Initialization is how the weights and biases of hidden layers and heads are drawn:
// uniformly about 0. In what follows in and out are the inputs and outputs of a layer,
// of feature networks those of one network. docs/initialisation.md has what they cost in
// prediction error, next to PyTorch. None of them concerns embeddings, the first layer
// of FeatureNetworks.ExU, and the coefficients of formula terms.
type Initialization string

// The initialisations.
const (
	// Narrow is the default: PyTorch, but the weights of the deep part's first layer begin
	// half as large if ReLU follows. Its functions of the columns are smoother at the start.
	Narrow Initialization = "narrow"
	// PyTorch draws weights and biases from -1/sqrt(in) to 1/sqrt(in), as nn.Linear
	// does: weights have variance 1/(3 in). Heads have no biases here.
	PyTorch Initialization = "pytorch"
	// Glorot draws weights with variance 2/(in + out); biases are 0 (Glorot and Bengio
	// 2010). It is what layers of Keras do unless told otherwise.
	Glorot Initialization = "glorot"
	// He draws weights with variance 2/in after which there is ReLU, ReLU-N or GELU (He
	// et al. 2015), with 1/in before other functions; biases from -0.2 to 0.2; those of
	// heads with variance 0.1/in, divided by the number of feature networks.
	He Initialization = "he"
)

func initializations() []Initialization { return []Initialization{Narrow, PyTorch, Glorot, He} }
