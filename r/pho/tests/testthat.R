library(testthat)
library(pho)

test_check("pho")
