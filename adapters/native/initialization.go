package native

// Initialization is how the weights and biases of hidden layers and heads are drawn:
// uniformly about 0. Below, in and out are the numbers of inputs and outputs of a layer;
// of feature networks those of one network. Embeddings, the first layer of
// FeatureNetworks.ExU and the coefficients of formula terms are not concerned.
// docs/initialisation.md compares the prediction errors, also with PyTorch.
type Initialization string

// The initialisations.
const (
	// Narrow is the default: as PyTorch, but the weights of the deep part's first layer are
	// half as large if ReLU follows, which makes its functions of the columns smoother at
	// the start.
	Narrow Initialization = "narrow"
	// PyTorch draws weights and biases from -1/sqrt(in) to 1/sqrt(in), as nn.Linear
	// does: weights have variance 1/(3 in). Heads have no biases here.
	PyTorch Initialization = "pytorch"
	// Glorot draws weights with variance 2/(in + out); biases are 0 (Glorot and Bengio
	// 2010). It is what layers of Keras do unless told otherwise.
	Glorot Initialization = "glorot"
	// He draws weights before ReLU, ReLU-N or GELU with variance 2/in (He et al. 2015),
	// before other functions with 1/in; biases from -0.2 to 0.2; the weights of heads with
	// variance 0.1/in, divided by the number of feature networks.
	He Initialization = "he"
)

func initializations() []Initialization { return []Initialization{Narrow, PyTorch, Glorot, He} }
