import type { Duration } from '@kubewright/base'
import type { Source } from '@kubewright/runtime'

/** A source whose keys wait before they are reconciled, so that further changes join them. The first change determines the time. */
export function delayed(source: Source, delay: Duration): Source {
  const start: Source['start'] = (sink, parts) =>
    source.start({ ...sink, add: (key, options) => sink.addAfter(key, delay, options) }, parts)
  return Object.freeze({ ...source, start })
}
