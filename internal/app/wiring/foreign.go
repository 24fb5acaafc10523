package wiring

import (
	"bytes"
	"errors"
)

// foreign says what a file is that is no model pho reads, by how it begins, and what to do; nil: its reader knows best.
func foreign(head []byte) error {
	begins := func(with string) bool { return bytes.HasPrefix(head, []byte(with)) }
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	const export = "export the network as ONNX (torch.onnx.export, Keras's model.export), or give the module itself to pho.decompose in Python"
	switch {
	case begins("PK\x03\x04"):
		return errors.New("the file is a zip archive, as PyTorch (.pt, .pth) and Keras (.keras) write, and no ONNX file: " + export)
	case begins("\x89HDF\r\n"):
		return errors.New("the file is HDF5, as Keras writes (.h5), and no ONNX file: " + export)
	case len(head) > 1 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5:
		return errors.New("the file is a pickle of Python (.pkl, .joblib), which is not opened, since that runs whatever it holds: give the estimator itself to pho.decompose in Python, or save a booster by its own save_model")
	case begins("\x1f\x8b"), begins("\x28\xb5\x2f\xfd"):
		return errors.New("the file is compressed (.gz, .zst; R's .rds is, too): unpack it first")
	case bytes.HasPrefix(text, []byte("{")):
		return errors.New("the file is JSON, but not as XGBoost (save_model), CatBoost (save_model with format=\"json\") or InterpretML (to_json) write: save the model by its library again")
	case bytes.HasPrefix(text, []byte("<")):
		return errors.New("the file is XML or a web page, and no model that is read here: if it was downloaded, look at it in a browser; of PMML, train or export the model in another format")
	}
	return nil
}
