import { areaTitles } from './areas.ts'
import { knownFailures } from './known-gaps.ts'
import type { AreaCase } from './run-cases.ts'

/** docs/reference/compatibility.md: how the recorded cases go, by area. */
export function compatibilityPage(cases: readonly AreaCase[]): string {
  const rows = [...new Set(cases.map(({ area }) => area))].map((area) => {
    const inArea = cases.filter((one) => one.area === area)
    const differ = inArea.filter(({ test }) => knownFailures.has(test.id)).length
    return `| ${[`\`${area}\``, areaTitles[area] ?? '', inArea.length - differ, differ || '–'].join(' | ')} |`
  })
  const differing = cases.filter(({ test }) => knownFailures.has(test.id))
  const gaps = differing.map(({ area, test }) => `- \`${area}/${test.id}\`: ${knownFailures.get(test.id)}`)
  return `# Compatibility with Kubernetes

The server answers as kube-apiserver v1.35.8 does. What that means is measured: \`test/conformance/cases\` holds ${cases.length} cases, requests
with the answers that a real v1.35.8 gave, compared whole: statuses, messages, reasons, causes, field paths, managedFields, warnings.
Only what no two servers share (times, uids, resource versions, generated names) is replaced by placeholders.

Cases about controllers run against a control plane with all of them, those about a server without any against a bare one, and all others
against both.

This page is written from those cases by their test, which fails when a case goes differently than the page says.

| area | about | same | differ |
|---|---|---|---|
${rows.join('\n')}
| **all** | | **${cases.length - differing.length}** | **${differing.length}** |

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
