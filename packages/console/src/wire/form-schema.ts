/** The schema of a field, as far as a form needs it. */
export interface FormSchema {
  /** `other` is edited as JSON: fields of unknown type, and parts that are nested too deeply. */
  readonly type: 'object' | 'map' | 'list' | 'text' | 'number' | 'integer' | 'boolean' | 'other'
  readonly description?: string | undefined
  /** JSON. */
  readonly default?: string | undefined
  readonly choices?: readonly string[] | undefined
  /** Of objects, in the order of the schema. */
  readonly properties?: Readonly<Record<string, FormSchema>> | undefined
  /** The names of the properties that must be set. */
  readonly required?: readonly string[] | undefined
  /** Of lists and maps. */
  readonly items?: FormSchema | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
}
