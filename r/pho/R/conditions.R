# Errors are conditions of class "pho_error", whose fields say more than the message:
#   pho_program_error   the program could not do it: status (1 the work failed, 2 the call is wrong, 130 interrupted), arguments, said
#   pho_missing_program there is no program, or none that fits: command
#   pho_model_error     the model does not predict what can be split: rows (numbers of those at fault, if single ones are)
#   pho_data_error      the rows cannot be handed over: column
fail <- function(class, ..., call = NULL, fields = list()) {
  stop(structure(c(list(message = paste0(...), call = call), fields), class = c(class, "pho_error", "error", "condition")))
}

or <- function(value, default) if (is.null(value)) default else value

quoted <- function(names) paste0("'", names, "'", collapse = ", ")

# The first of many names, for messages.
some <- function(names, most = 10) if (length(names) <= most) quoted(names) else paste0(quoted(names[seq_len(most)]), " and ", length(names) - most, " more")
