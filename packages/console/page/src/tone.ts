/** The meaning of a state, for its colour. The text always says it as well. */
export type Tone = 'good' | 'bad' | 'busy' | 'plain'

const good =
  /^(running|ready|active|bound|available|true|established|complete|completed|succeeded|success|healthy|synced|normal|approved,issued)$/i
const bad =
  /^(false|failed|error|evicted|lost|notready|unknown|.*backoff|.*err|err.*|invalid.*|oomkilled|warning|terminal_error|conflict)$/i
const busy =
  /^(pending|terminating|containercreating|podinitializing|init:.*|progressing|waiting|requeue_after|suspended|creating|updating)$/i
const states = /^(status|ready|phase|state|type|available|reason|result)$/i

/** The tone of a table cell. Only columns that hold states have one. */
export function toneOf(column: string, value: unknown): Tone {
  if (!states.test(column) || typeof value !== 'string') return 'plain'
  const ratio = /^(\d+)\/(\d+)$/.exec(value)
  if (ratio) return ratio[1] === ratio[2] ? 'good' : 'busy'
  return wordTone(value)
}

export function wordTone(word: string): Tone {
  if (good.test(word)) return 'good'
  if (bad.test(word)) return 'bad'
  return busy.test(word) ? 'busy' : 'plain'
}
