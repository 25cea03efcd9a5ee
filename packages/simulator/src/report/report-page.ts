import type { TimelineEntry } from '../define/timeline.ts'
import type { SimulationReport } from './simulation-report.ts'
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
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1d2430 }
h1 { margin-bottom: 0 } h2 { margin: 2rem 0 0.5rem; font-size: 1.1rem }
table { border-collapse: collapse } th, td { text-align: left; padding: 0.1rem 1.5rem 0.1rem 0; font-weight: normal }
.columns { columns: 3 16rem } .verdict { padding: 0.8rem 1rem; border-radius: 6px; background: #e8f6ec }
.verdict.failed { background: #ffe8e8 } .verdict b { display: block }
ol { list-style: none; padding: 0; margin: 0; border-left: 3px solid #d7dce5 }
ol li { display: flex; gap: 1rem; padding: 0.2rem 1rem }
time { font-family: ui-monospace, monospace; color: #69758a; flex: 0 0 6rem; text-align: right }
.actor { flex: 0 0 5.5rem; color: #69758a; font-size: 13px; line-height: 1.7 }
.fault { background: #fff1e5 } .user { background: #eaf3ff } .oracle { background: #ffe8e8; font-weight: 600 }
.source { color: #69758a; font: 13px ui-monospace, monospace; font-weight: normal; overflow-wrap: anywhere }
ul { padding-left: 1.2rem } ins { background: #d7f2dd; text-decoration: none } del { background: #ffd9d9 }
code { background: #f1f3f7; padding: 0.1rem 0.3rem; overflow-wrap: anywhere }
</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${verdictPart(failure)}
${failure === undefined ? '' : failurePart(failure)}
<h2>Covered</h2>
<div class="columns"><table>${rows.join('\n')}</table></div>
<p>Seed <code>${escaped(report.seed)}</code>, history <code>${escaped(report.hash)}</code></p>
</body>
</html>
`
}

function verdictPart(failure: SimulationReport['failure']): string {
  if (failure === undefined) return '<p class="verdict">No failure was found.</p>'
  const { violation, operations, faults } = failure
  const size = `${operations} operation${operations === 1 ? '' : 's'}, ${faults} fault${faults === 1 ? '' : 's'}`
  return `<p class="verdict failed"><b>${escaped(violation.message)}</b>Oracle “${escaped(violation.oracle)}”, ${size}</p>`
}

function failurePart({ timeline, violation, id }: NonNullable<SimulationReport['failure']>): string {
  const details = violation.details.map((detail) => `<li>${detailPart(detail)}</li>`)
  const differences = details.length === 0 ? '' : `<h2>Differences</h2>\n<ul>${details.join('\n')}</ul>\n`
  return `<h2>Timeline in virtual time</h2>
<ol>${withoutRepetitions(timeline).map(entryPart).join('\n')}</ol>
${differences}<h2>Replay</h2>
<p><code>kubewright simulate --replay ${escaped(id)}</code></p>`
}

/** Marks the actual and the expected value of a difference. */
function detailPart(detail: string): string {
  const found = /^(.*: .* is )(.*)(, expected )(.*)$/s.exec(detail)
  if (found === null) return escaped(detail)
  const [, before, actual, between, expected] = found
  return `${escaped(before)}<del>${escaped(actual)}</del>${escaped(between)}<ins>${escaped(expected)}</ins>`
}

function entryPart({ time, actor, text, source }: TimelineEntry): string {
  const where = source === undefined ? '' : `<div class="source">at ${escaped(source)}</div>`
  return `<li class="${actor}"><time>${escaped(timeText(time).trim())}</time><span class="actor">${actor}</span><div>${escaped(text)}${where}</div></li>`
}
