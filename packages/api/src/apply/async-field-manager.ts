import { CaughtError } from '@kubewright/base'
import { canonicalJson } from '../fieldset/path-element.ts'
import type { JsonObject } from '../own-property.ts'
import { createFieldManager } from './create-field-manager.ts'
import type {
  ApplyFieldsOptions,
  ApplyFieldsResult,
  FieldManagerOptions,
  UpdateFieldsOptions,
} from './field-manager.ts'
import { withoutManagedFields } from './managed-object.ts'

/** Like FieldManagerOptions, with an asynchronous conversion, for example by a webhook. */
export interface AsyncFieldManagerOptions extends Omit<FieldManagerOptions, 'convert'> {
  /** Converts an object to another version; undefined when that version no longer exists. Must be deterministic. */
  convert(object: JsonObject, apiVersion: string): Promise<JsonObject | undefined>
}

/** Like FieldManager, for kinds with asynchronous conversion. */
export interface AsyncFieldManager {
  apply(live: JsonObject | undefined, config: JsonObject, options: ApplyFieldsOptions): Promise<ApplyFieldsResult>
  update(live: JsonObject | undefined, next: JsonObject, options: UpdateFieldsOptions): Promise<JsonObject>
  updateNoErrors(live: JsonObject | undefined, next: JsonObject, options: UpdateFieldsOptions): Promise<JsonObject>
}

/** Thrown by the synchronous computation when it needs a conversion result that is not available yet. */
class ConversionNeeded extends CaughtError {
  readonly object: JsonObject
  readonly apiVersion: string
  readonly key: string

  constructor(object: JsonObject, apiVersion: string, key: string) {
    super(`conversion to ${apiVersion} needed`)
    this.object = object
    this.apiVersion = apiVersion
    this.key = key
  }
}

/**
 * Creates a field manager with an asynchronous conversion. The computation itself is synchronous: when it needs a
 * conversion result that is not available, it aborts, awaits the conversion and restarts with all results so far.
 * Managers of a single version therefore cause no conversion and no restart.
 */
export function createAsyncFieldManager(options: AsyncFieldManagerOptions): AsyncFieldManager {
  // The results for the current synchronous run. There is no await between the assignment in `run` and the read in
  // `convert`.
  let answers = new Map<string, JsonObject | undefined>()
  const manager = createFieldManager({
    ...options,
    convert(object, apiVersion) {
      const key = `${apiVersion} ${canonicalJson(object)}`
      if (!answers.has(key)) throw new ConversionNeeded(object, apiVersion, key)
      return answers.get(key)
    },
  })
  const run = async <T>(compute: () => T): Promise<T> => {
    const known = new Map<string, JsonObject | undefined>()
    for (;;) {
      answers = known
      try {
        return compute()
      } catch (error) {
        if (!(error instanceof ConversionNeeded)) throw error
        known.set(error.key, await options.convert(error.object, error.apiVersion))
      }
    }
  }
  return {
    apply: (live, config, applyOptions) => run(() => manager.apply(live, config, applyOptions)),
    update: (live, next, updateOptions) => run(() => manager.update(live, next, updateOptions)),
    updateNoErrors: async (live, next, updateOptions) => {
      try {
        return await run(() => manager.update(live, next, updateOptions))
      } catch {
        return withoutManagedFields(next)
      }
    },
  }
}
