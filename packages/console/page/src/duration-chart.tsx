import type { ReconcileView } from '../../src/wire/operator-view.ts'
import { text } from './text.ts'
import { wordTone } from './tone.ts'

const [width, height, pad, labels] = [720, 110, 18, 58]

/** The durations of the last reconciles over time, on a logarithmic scale; the colours show the results. */
export function DurationChart({ reconciles }: { readonly reconciles: readonly ReconcileView[] }) {
  if (reconciles.length < 2) return null
  const times = reconciles.map(({ startedAt }) => Date.parse(startedAt))
  const first = times.reduce((least, time) => Math.min(least, time))
  const last = times.reduce((most, time) => Math.max(most, time))
  const top = reconciles.reduce((most, { durationMillis }) => Math.max(most, durationMillis), 10)
  const x = (time: number): number =>
    labels + 6 + ((time - first) / Math.max(1, last - first)) * (width - labels - 6 - pad)
  // 0.1 ms is at the bottom.
  const scale = (millis: number): number => Math.log10(Math.max(0.1, millis)) + 1
  const y = (millis: number): number => height - pad - (scale(millis) / scale(top)) * (height - 2 * pad)
  const lines = [0.1, 1, 10, 100, 1000, 10_000, 100_000].filter((millis) => millis <= top)
  return (
    <figure class="chart">
      <figcaption>{text('durations')}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={text('durations')}>
        {lines.map((millis) => (
          <g key={millis}>
            <line x1={labels} x2={width - pad + 6} y1={y(millis)} y2={y(millis)} />
            <text x={labels - 6} y={y(millis) + 3} text-anchor="end">
              {millis} ms
            </text>
          </g>
        ))}
        {reconciles.map((record, index) => (
          <circle
            key={record.id}
            class={wordTone(record.result)}
            cx={x(times[index] ?? first)}
            cy={y(record.durationMillis)}
            r="3"
          >
            <title>{`${record.controller} ${record.key}: ${record.result}, ${record.durationMillis.toFixed(1)} ms`}</title>
          </circle>
        ))}
      </svg>
    </figure>
  )
}
