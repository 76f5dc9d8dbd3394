int jobs; /* a wing may, and so may what is below */
