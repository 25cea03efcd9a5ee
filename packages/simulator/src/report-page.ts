import type { SimulationReport, TimelineEntry } from './options.ts'
import { timeText, withoutRepetitions } from './story.ts'

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: unknown): string => String(text).replace(/[&<>"]/g, (character) => escapes[character] ?? '')

/** A self-contained HTML page that shows what a simulation covered and the timeline of its failure. */
export function reportPage(title: string, report: SimulationReport): string {
  const { failure, faults, operations } = report
  const counts = [
    ['schedules', report.schedules],
    ['runs', report.runs],
    ['requests', report.requests],
    ['states', report.states],
    ['single faults tried', `${report.points.tried} of ${report.points.known}`],
    ...Object.entries(operations).map(([name, count]) => [`operation: ${name}`, count]),
    ...Object.entries(faults).map(([name, count]) => [`fault: ${name}`, count]),
  ]
  const rows = counts.map(([name, count]) => `<tr><th>${escaped(name)}</th><td>${escaped(count)}</td></tr>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escaped(title)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1d2430 }
table { border-collapse: collapse } th, td { text-align: left; padding: 0.1rem 1.5rem 0.1rem 0; font-weight: normal }
ol { list-style: none; padding: 0; border-left: 3px solid #d7dce5 } li { padding: 0.15rem 1rem }
time { font-family: ui-monospace, monospace; color: #69758a; margin-right: 1rem }
.fault { background: #fff1e5 } .user { background: #eaf3ff } .oracle { background: #ffe8e8; font-weight: 600 }
.source { color: #69758a; font-size: 13px } code { background: #f1f3f7; padding: 0.1rem 0.3rem; overflow-wrap: anywhere }
</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>${failure === undefined ? 'No failure was found.' : `Failed: ${escaped(failure.violation.message)}`}</p>
${failure === undefined ? '' : failurePart(failure)}
<h2>Covered</h2>
<table>${rows.join('\n')}</table>
<p>Seed <code>${escaped(report.seed)}</code>, history <code>${escaped(report.hash)}</code></p>
</body>
</html>
`
}

function failurePart({ timeline, violation, id }: NonNullable<SimulationReport['failure']>): string {
  const details = violation.details.map((detail) => `<li>${escaped(detail)}</li>`)
  return `<h2>Timeline</h2>
<ol>${withoutRepetitions(timeline).map(entryPart).join('\n')}</ol>
<ul>${details.join('\n')}</ul>
<p>Replay it with <code>kubewright simulate --replay ${escaped(id)}</code></p>`
}

function entryPart({ time, actor, text, source }: TimelineEntry): string {
  const where = source === undefined ? '' : `<div class="source">at ${escaped(source)}</div>`
  return `<li class="${actor}"><time>${escaped(timeText(time).trim())}</time>${escaped(text)}${where}</li>`
}
