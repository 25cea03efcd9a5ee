const yamlPrefix = /^(?:error converting YAML to JSON: )?yaml: unmarshal errors:\n/

/** Warns about each strict decoding error; those of YAML come as several lines of one text. */
export function warnStrictly(errors: readonly string[], warn: (text: string) => void): void {
  for (const error of errors) {
    if (!yamlPrefix.test(error)) warn(error)
    else for (const line of error.replace(yamlPrefix, '').split('\n')) warn(line.trim())
  }
}
