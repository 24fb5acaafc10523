package onnx

// convRule with constant weights is linear: input n x C x spatial, weights
// M x C/group x kernel.
func convRule(n *Node) rule {
	if len(n.Inputs) < 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || n.Inputs[1].Const == nil || !n.Outputs[0].Type.Floating() {
		return opaque
	}
	in, w, out := rowDims(n.Inputs[0]), rowDims(n.Inputs[1]), rowDims(n.Outputs[0])
	spatial := len(in) - 2
	group := int(n.attrInt("group", 1))
	if spatial < 0 || len(w) != len(in) || len(out) != len(in) || group < 1 || in[1] != group*w[1] || w[0]%group != 0 || out[1] != w[0] {
		return opaque
	}
	stride, dilation, pad, ok := convWindow(n, in[2:], w[2:], out[2:])
	if !ok {
		return opaque
	}
	weights := n.Inputs[1].Const
	kernel, c, k := product(w[2:]), make([]int, len(out)), make([]int, spatial)
	strides := rowMajor(in)
	return rule{linear: true, cost: w[1]*kernel + 1, each: func(_, e int, yield link) {
		unravel(e, out, c)
		m := c[1]
		base := c[0]*strides[0] + m/(w[0]/group)*w[1]*strides[1]
	taps:
		for t := range kernel {
			unravel(t, w[2:], k)
			at := base
			for i := range spatial {
				x := c[2+i]*stride[i] - pad[i] + k[i]*dilation[i]
				if x < 0 || x >= in[2+i] {
					continue taps
				}
				at += x * strides[2+i]
			}
			for ch := range w[1] {
				yield(0, at+ch*strides[1], weights.at((m*w[1]+ch)*kernel+t))
			}
		}
		if len(n.Inputs) > 2 && n.Inputs[2] != nil {
			yield(2, m, 1)
		}
	}}
}

// convWindow reads strides, dilations and the pads before each spatial axis.
func convWindow(n *Node, in, kernel, out []int) (stride, dilation, pad []int, ok bool) {
	read := func(name string, def int) []int {
		v, given, _ := n.intsInput(name, len(n.Inputs))
		for !given && len(v) < len(in) {
			v = append(v, def)
		}
		return v
	}
	stride, dilation = read("strides", 1), read("dilations", 1)
	if len(stride) != len(in) || len(dilation) != len(in) {
		return nil, nil, nil, false
	}
	switch mode := n.Attrs["auto_pad"].String; mode {
	case "", "NOTSET":
		if p, given, _ := n.intsInput("pads", len(n.Inputs)); given {
			return stride, dilation, p, len(p) == 2*len(in)
		}
		return stride, dilation, make([]int, len(in)), true
	case "VALID":
		return stride, dilation, make([]int, len(in)), true
	case "SAME_UPPER", "SAME_LOWER":
		for i := range in {
			total := max(0, (out[i]-1)*stride[i]+(kernel[i]-1)*dilation[i]+1-in[i])
			if mode == "SAME_LOWER" {
				total++
			}
			pad = append(pad, total/2)
		}
		return stride, dilation, pad, true
	}
	return nil, nil, nil, false
}
