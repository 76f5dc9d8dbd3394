Network u {
	Layer T { Type: TRCONV Dimensions { K: 16, C: 8, R: 2, S: 2, Y: 28, X: 28 } }
	Layer G { Type: NGCONV; Dimensions { G: 32, K: 4, C: 8, R: 3, S: 3, Y: 10, X: 10 } }
	Layer D { Type: DSCONV Dimensions { K: 1, C: 32, R: 3, S: 3, Y': 5, X: 56 } }
}
