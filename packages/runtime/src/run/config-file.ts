import { readFileSync } from 'node:fs'
import { aggregateText, parseYaml } from '@kubewright/api'
import { type Flag, UsageError } from '@kubewright/base'
import { compileSchema, type Schema } from '@kubewright/schema'

/** A flag that names a configuration file. Its value is the content of the file. */
export interface ConfigFileFlag<T> extends Flag {
  readonly value: 'FILE'
  readonly parse: (file: string, flag: string) => T
}

/**
 * A flag of an operator for a configuration file in YAML or JSON. Unknown fields and invalid values end the program with
 * a message that names them; defaults of the schema are filled in.
 *
 * @example
 * configFile(s.object({ region: s.enum('eu', 'us').default('eu') }), 'Read the settings of the provider from this file')
 */
export function configFile<Out>(schema: Schema<Out, unknown>, help: string): ConfigFileFlag<Out> {
  return {
    value: 'FILE',
    complete: 'files',
    help,
    parse(file, flag) {
      const refuse = (problem: string): never => {
        throw new UsageError(`${flag}: ${file} ${problem}`)
      }
      const read = (): unknown => {
        try {
          return parseYaml(readFileSync(file, 'utf8')) ?? {}
        } catch (error) {
          return refuse(`cannot be read: ${(error as Error).message}`)
        }
      }
      const value = read()
      const compiled = compileSchema(schema.json, { resource: false })
      const { unknown } = compiled.normalize(value)
      if (unknown.length > 0) refuse(`has unknown fields: ${unknown.join(', ')}`)
      const errors = compiled.validate(value)
      if (errors.length > 0) refuse(`is invalid: ${aggregateText(errors)}`)
      return value as Out
    },
  }
}
