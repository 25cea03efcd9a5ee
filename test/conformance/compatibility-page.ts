import { areaTitles } from './areas.ts'
import { knownFailures, missingFeature } from './known-gaps.ts'
import type { AreaCase } from './run-cases.ts'

/** Which of the cases are run here, and what the others wait for. */
export function sortCases(cases: readonly AreaCase[]): {
  readonly run: readonly AreaCase[]
  readonly later: ReadonlyMap<AreaCase, string>
} {
  const later = new Map<AreaCase, string>()
  for (const one of cases) {
    const missing = missingFeature(one)
    if (missing !== undefined) later.set(one, missing)
  }
  return { run: cases.filter((one) => !later.has(one)), later }
}

/** docs/reference/compatibility.md: how the recorded cases go, by area. */
export function compatibilityPage(cases: readonly AreaCase[]): string {
  const { run, later } = sortCases(cases)
  const rows = [...new Set(cases.map(({ area }) => area))].map((area) => {
    const inArea = run.filter((one) => one.area === area)
    const differ = inArea.filter(({ test }) => knownFailures.has(test.id)).length
    const waiting = new Map<string, number>()
    for (const [one, feature] of later) if (one.area === area) waiting.set(feature, (waiting.get(feature) ?? 0) + 1)
    const waits = [...waiting].map(([feature, count]) => `${count} (${feature})`).join(', ')
    const cells = [`\`${area}\``, areaTitles[area] ?? '', String(inArea.length - differ), differ || '–', waits || '–']
    return `| ${cells.join(' | ')} |`
  })
  const differing = run.filter(({ test }) => knownFailures.has(test.id))
  const gaps = differing.map(({ area, test }) => `- \`${area}/${test.id}\`: ${knownFailures.get(test.id)}`)
  return `# Compatibility with Kubernetes

The server answers as kube-apiserver v1.35.8 does. What that means is measured: \`test/conformance/cases\` holds ${cases.length} cases, requests
with the answers that a real v1.35.8 gave, compared whole: statuses, messages, reasons, causes, field paths, managedFields, warnings.
Only what no two servers share (times, uids, resource versions, generated names) is replaced by placeholders.

This page is written from those cases by their test, which fails when a case goes differently than the page says.

| area | about | same | differ | later |
|---|---|---|---|---|
${rows.join('\n')}
| **all** | | **${run.length - differing.length}** | **${differing.length}** | **${later.size}** |

“Later” are cases that need what this version does not have; the parentheses say what.

## What differs
${gaps.length === 0 ? 'Nothing that the cases show.' : gaps.join('\n')}

## On your own server
The cases run against any server whose kubeconfig holds a token or a client certificate of group system:masters:

\`\`\`sh
node --conditions=kubewright-source --import tsx test/conformance/main.ts --kubeconfig ~/.kube/config
\`\`\`

\`--only\` and \`--skip\` take regular expressions for \`area/id\`, \`--diff\` shows every difference, \`--controllers\` says that the server runs
the built-in controllers, and \`--client-ca-cert\` with \`--client-ca-key\` names a CA for clients that the server trusts. Each case has a
namespace or names of its own and removes what it made.
`
}
