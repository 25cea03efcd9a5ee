const yamlPrefix = /^(?:error converting YAML to JSON: )?yaml: unmarshal errors:\n/

/** Adds a Warning for each strict decoding error. An error of the YAML decoder has several lines, each of which becomes one. */
export function warnStrictly(errors: readonly string[], warn: (text: string) => void): void {
  for (const error of errors) {
    if (!yamlPrefix.test(error)) warn(error)
    else for (const line of error.replace(yamlPrefix, '').split('\n')) warn(line.trim())
  }
}
