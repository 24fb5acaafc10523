//go:build amd64 && !purego

// Eight or four numbers at a time, rounded as in Go: nothing is fused.

#include "textflag.h"

// func adamF32AVX2(a *adam[float32])
TEXT ·adamF32AVX2(SB), NOSPLIT, $0-8
	MOVQ a+0(FP), AX
	MOVQ 0(AX), DI // w
	MOVQ 8(AX), SI // g
	MOVQ 16(AX), R8 // m
	MOVQ 24(AX), R9 // v
	MOVQ 32(AX), CX // n
	VBROADCASTSS 40(AX), Y8 // beta1
	VBROADCASTSS 44(AX), Y9 // c1
	VBROADCASTSS 48(AX), Y10 // beta2
	VBROADCASTSS 52(AX), Y11 // c2
	VBROADCASTSS 56(AX), Y12 // keep
	VBROADCASTSS 60(AX), Y13 // rate
	VBROADCASTSS 64(AX), Y14 // eps
	VBROADCASTSS 68(AX), Y15 // tiny
	VPCMPEQD Y7, Y7, Y7
	VPSRLD $1, Y7, Y7 // all bits but the sign

adam32:
	VMOVUPS (SI), Y0
	VMULPS (R8), Y8, Y1
	VMULPS Y0, Y9, Y2
	VADDPS Y2, Y1, Y1 // m = beta1 m + c1 g
	VMULPS (R9), Y10, Y2
	VMULPS Y0, Y11, Y3
	VMULPS Y0, Y3, Y3
	VADDPS Y3, Y2, Y2 // v = beta2 v + c2 g g
	VANDPS Y7, Y1, Y4
	VCMPPS $1, Y15, Y4, Y4
	VANDNPS Y1, Y4, Y1 // 0 if |m| < tiny
	VCMPPS $1, Y15, Y2, Y4
	VANDNPS Y2, Y4, Y2 // 0 if v < tiny
	VMOVUPS Y1, (R8)
	VMOVUPS Y2, (R9)
	VSQRTPS Y2, Y2
	VADDPS Y14, Y2, Y2 // + eps
	VMULPS Y1, Y13, Y1
	VDIVPS Y2, Y1, Y1 // rate m / (sqrt(v) + eps)
	VMULPS (DI), Y12, Y3
	VSUBPS Y1, Y3, Y3
	VMOVUPS Y3, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, R8
	ADDQ $32, R9
	SUBQ $8, CX
	JNE  adam32
	VZEROUPPER
	RET

// func reluGradF32AVX2(l *loop[float32])
TEXT ·reluGradF32AVX2(SB), NOSPLIT, $0-8
	MOVQ l+0(FP), AX
	MOVQ 0(AX), DI // dst
	MOVQ 8(AX), SI // a: dy
	MOVQ 16(AX), DX // b: y
	MOVQ 24(AX), CX // n
	VXORPS Y0, Y0, Y0

relu32:
	VCMPPS $4, (DX), Y0, Y1 // y is not 0
	VANDPS (SI), Y1, Y1
	VMOVUPS Y1, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	SUBQ $8, CX
	JNE  relu32
	VZEROUPPER
	RET

// func adamF64AVX2(a *adam[float64])
TEXT ·adamF64AVX2(SB), NOSPLIT, $0-8
	MOVQ a+0(FP), AX
	MOVQ 0(AX), DI // w
	MOVQ 8(AX), SI // g
	MOVQ 16(AX), R8 // m
	MOVQ 24(AX), R9 // v
	MOVQ 32(AX), CX // n
	VBROADCASTSD 40(AX), Y8 // beta1
	VBROADCASTSD 48(AX), Y9 // c1
	VBROADCASTSD 56(AX), Y10 // beta2
	VBROADCASTSD 64(AX), Y11 // c2
	VBROADCASTSD 72(AX), Y12 // keep
	VBROADCASTSD 80(AX), Y13 // rate
	VBROADCASTSD 88(AX), Y14 // eps
	VBROADCASTSD 96(AX), Y15 // tiny
	VPCMPEQD Y7, Y7, Y7
	VPSRLQ $1, Y7, Y7 // all bits but the sign

adam64:
	VMOVUPD (SI), Y0
	VMULPD (R8), Y8, Y1
	VMULPD Y0, Y9, Y2
	VADDPD Y2, Y1, Y1 // m = beta1 m + c1 g
	VMULPD (R9), Y10, Y2
	VMULPD Y0, Y11, Y3
	VMULPD Y0, Y3, Y3
	VADDPD Y3, Y2, Y2 // v = beta2 v + c2 g g
	VANDPD Y7, Y1, Y4
	VCMPPD $1, Y15, Y4, Y4
	VANDNPD Y1, Y4, Y1 // 0 if |m| < tiny
	VCMPPD $1, Y15, Y2, Y4
	VANDNPD Y2, Y4, Y2 // 0 if v < tiny
	VMOVUPD Y1, (R8)
	VMOVUPD Y2, (R9)
	VSQRTPD Y2, Y2
	VADDPD Y14, Y2, Y2 // + eps
	VMULPD Y1, Y13, Y1
	VDIVPD Y2, Y1, Y1 // rate m / (sqrt(v) + eps)
	VMULPD (DI), Y12, Y3
	VSUBPD Y1, Y3, Y3
	VMOVUPD Y3, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, R8
	ADDQ $32, R9
	SUBQ $4, CX
	JNE  adam64
	VZEROUPPER
	RET

// func reluGradF64AVX2(l *loop[float64])
TEXT ·reluGradF64AVX2(SB), NOSPLIT, $0-8
	MOVQ l+0(FP), AX
	MOVQ 0(AX), DI // dst
	MOVQ 8(AX), SI // a: dy
	MOVQ 16(AX), DX // b: y
	MOVQ 24(AX), CX // n
	VXORPD Y0, Y0, Y0

relu64:
	VCMPPD $4, (DX), Y0, Y1 // y is not 0
	VANDPD (SI), Y1, Y1
	VMOVUPD Y1, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	SUBQ $4, CX
	JNE  relu64
	VZEROUPPER
	RET
