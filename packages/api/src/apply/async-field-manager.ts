import { canonicalJson } from '../fieldset/path-element.ts'
import type { JsonObject } from '../patch/own-property.ts'
import {
  type ApplyFieldsOptions,
  type ApplyFieldsResult,
  createFieldManager,
  type FieldManagerOptions,
  type UpdateFieldsOptions,
} from './field-manager.ts'
import { withoutManagedFields } from './managed-object.ts'

/** As FieldManagerOptions, with a conversion that takes its time, as that of a webhook does. */
export interface AsyncFieldManagerOptions extends Omit<FieldManagerOptions, 'convert'> {
  /** Brings an object into another version; undefined when that version exists no more. Must give the same result each time. */
  convert(object: JsonObject, apiVersion: string): Promise<JsonObject | undefined>
}

/** As FieldManager, for kinds whose conversion is asynchronous. */
export interface AsyncFieldManager {
  apply(live: JsonObject | undefined, config: JsonObject, options: ApplyFieldsOptions): Promise<ApplyFieldsResult>
  update(live: JsonObject | undefined, next: JsonObject, options: UpdateFieldsOptions): Promise<JsonObject>
  updateNoErrors(live: JsonObject | undefined, next: JsonObject, options: UpdateFieldsOptions): Promise<JsonObject>
}

/** Thrown out of the synchronous computation to ask for a conversion that is not there yet. */
class ConversionNeeded extends Error {
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
 * Creates a field manager over an asynchronous conversion. The computation itself stays synchronous: it stops at a conversion that is
 * missing and starts again once it is there, so that it costs nothing where managers share one version.
 */
export function createAsyncFieldManager(options: AsyncFieldManagerOptions): AsyncFieldManager {
  // Set for the time of one synchronous run; no await lies between setting and reading.
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
