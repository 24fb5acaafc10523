package decompose

import "strings"

// Uniqueness is the convention that makes predictors unique where they are known only up to a
// function common to all, as logits of a softmax are. The zero value: they are unique as they are.
type Uniqueness struct {
	// Convention says it in words, a clause: "centred over the classes of every row".
	Convention string `json:"convention,omitempty"`
	// Contrast is what each is compared with; "": whatever Convention says.
	Contrast Contrast `json:"contrast,omitempty"`
	// Reference is the class that ToClass compares with; "" of other contrasts.
	Reference string `json:"reference,omitempty"`
}

// Contrast is what the predictor of a class is compared with.
type Contrast string

// The contrasts.
const (
	ToMean  Contrast = "mean"  // that of all classes, in every row
	ToClass Contrast = "class" // one of them
)

const (
	centredOver  = "centred over the classes of every row"
	differenceTo = "difference to class "
)

// ClassContrast is that of predictors that are differences to the class reference or, if this is
// "", to the mean of all classes.
func ClassContrast(reference string) Uniqueness {
	u := Uniqueness{Contrast: ToMean}
	if reference != "" {
		u = Uniqueness{Contrast: ToClass, Reference: reference}
	}
	return u.called(func(class string) string { return class })
}

// called is u with the classes called what name says.
func (u Uniqueness) called(name func(class string) string) Uniqueness {
	switch u.Contrast {
	case ToMean:
		u.Convention = centredOver
	case ToClass:
		u.Reference = name(u.Reference)
		u.Convention = differenceTo + u.Reference
	}
	return u
}

// fromWords finds the contrast in a result of versions that wrote Convention alone.
func (u *Uniqueness) fromWords() {
	class, ok := strings.CutPrefix(u.Convention, differenceTo)
	switch {
	case u.Contrast != "":
	case u.Convention == centredOver:
		u.Contrast = ToMean
	case ok:
		u.Contrast, u.Reference = ToClass, class
	}
}
