# concordance.json: Harrell's C of drawn times, for importance.Visitor, by R's survival::concordance.
#
# Cases: no ties; times, risks and both rounded, so that events meet events and censored rows at one time, and risks are
# equal; with weights; hardly any events. Risks are larger where events are sooner (reverse = TRUE).
suppressMessages(library(survival))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
set.seed(54)
n <- 120
case <- function(name, times, risks, weighted, censored) {
  risk <- round(rnorm(n), risks)
  time <- rexp(n, exp(0.8 * risk))
  end <- rexp(n, censored)
  event <- as.numeric(time <= end)
  time <- round(pmin(time, end), times) + 0.25
  w <- if (weighted) sample(c(0.5, 1, 2, 3.25), n, TRUE) else rep(1, n)
  c <- concordance(Surv(time, event) ~ risk, weights = w, reverse = TRUE)
  list(name = name, time = time, event = event, risk = risk, weight = w, c = unname(c$concordance))
}
cases <- list(case("no ties", 9, 9, FALSE, 0.5), case("times tied", 1, 9, FALSE, 0.5), case("risks tied", 9, 0, FALSE, 0.5),
              case("all tied", 1, 0, FALSE, 0.5), case("weights", 1, 1, TRUE, 0.5), case("few events", 1, 1, TRUE, 20))
number <- function(x) paste0("[", paste(sprintf("%.15g", x), collapse = ", "), "]")
text <- vapply(cases, function(c) sprintf('    {"name": "%s", "c": %.17g,\n     "time": %s,\n     "event": %s,\n     "risk": %s,\n     "weight": %s}',
                                          c$name, c$c, number(c$time), number(c$event), number(c$risk), number(c$weight)), "")
writeLines(c("{", sprintf('  "provenance": "%s, survival %s, testdata/golden/concordance.R",', R.version.string, packageVersion("survival")),
             '  "cases": [', paste(text, collapse = ",\n"), "  ]", "}"), file.path(here, "concordance.json"))
