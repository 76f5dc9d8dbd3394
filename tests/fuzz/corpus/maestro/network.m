// a network
Constant Rows 230;
Network net-1 {
Layer CONV-1 { Type: CONV
 Stride { X: 2, Y: 2 }
 Dimensions { K 64,C 3,R 7,S 7,Y Rows,X 227 }
Dataflow { SpatialMap(1,1) K; TemporalMap(64,Sz(R)) Y'; Cluster(Sz(R), P); } }
Layer B { Type: BMM Dimensions { B: 5, K: 3, M: 2, N: 4 } }
Layer F { Type: FC Dimensions { K: 10, C: 64 } }
}
Accelerator { PE { NumPEs: 128; } /* c */ }
