import { areaTitles } from './areas.ts'
import { knownFailures } from './known-gaps.ts'
import type { AreaCase } from './run-cases.ts'

/** The contents of docs/reference/compatibility.md: the results of the recorded cases by area. */
export function compatibilityPage(cases: readonly AreaCase[]): string {
  const rows = [...new Set(cases.map(({ area }) => area))].map((area) => {
    const inArea = cases.filter((one) => one.area === area)
    const differ = inArea.filter(({ test }) => knownFailures.has(test.id)).length
    return `| ${[`\`${area}\``, areaTitles[area] ?? '', inArea.length - differ, differ || '–'].join(' | ')} |`
  })
  const differing = cases.filter(({ test }) => knownFailures.has(test.id))
  const gaps = differing.map(({ area, test }) => `- \`${area}/${test.id}\`: ${knownFailures.get(test.id)}`)
  return `# Compatibility with Kubernetes

The server responds like kube-apiserver v1.35.8. This is tested: \`test/conformance/cases\` contains ${cases.length} cases with requests and the
responses of a real v1.35.8. Complete responses are compared: statuses, messages, reasons, causes, field paths, managedFields, warnings.
Only values that differ between any two servers (times, uids, resource versions, generated names) are replaced by placeholders.
Descriptions of table columns and of built-in schemas are not compared, because the server has its own texts.

Cases that need controllers run against a control plane with all controllers, cases that exclude them run against a server alone, and all others
run against both.

The test of the cases generates this page and fails when a result differs from the page.

| area | subject | equal | different |
|---|---|---|---|
${rows.join('\n')}
| **all** | | **${cases.length - differing.length}** | **${differing.length}** |

## Differences
${gaps.length === 0 ? 'None in the recorded cases.' : gaps.join('\n')}

## Random requests
The differential fuzzer sends the same random requests to a kube-apiserver and to this server, and compares complete responses. Of 48,046
requests from 16 seeds, 13 had different responses: 99.97 % were equal.

| scenarios | requests | different |
|---|---|---|
| built-in objects | 19,269 | 6 |
| server-side apply by several managers | 6,648 | – |
| life cycles: finalizers, owners, deletion, scale | 6,280 | – |
| paths, queries and headers | 5,428 | 5 |
| RBAC and access reviews | 3,728 | – |
| custom resources | 2,817 | – |
| CEL expressions | 1,788 | – |
| lists and watches | 1,366 | 1 |
| admission policies | 722 | 1 |

Seven of the 13 are fixed now. Two are by design: \`/\` does not list post-start hooks that this server does not have. The other four depend on
the history of the servers: the kube-apiserver had compacted old resource versions or kept objects of an earlier run, or this server kept
fewer old events. Texts that Go prints in random order are not compared.

\`\`\`sh
npm run fuzz -- differential --reference KUBECONFIG --seed S --count 3000
\`\`\`

[CONTRIBUTING.md](../../CONTRIBUTING.md#fuzzers) describes the kube-apiserver to compare with.

## Controllers
The fuzzer \`controllers\` runs the same random workloads on a kube-controller-manager and on the built-in controllers: it creates, scales,
rolls out, suspends and deletes them, sets the status of their pods, and compares all objects and Events of the namespace after each step.
Of 3,787 objects and Events of 110 scenarios, 99.84 % were equal; 107 scenarios had no difference. One difference is by design: the
kube-controller-manager recreates the revision of a stateful set that is being deleted in the foreground. The others were the time of an
endpoint, and the tenth of ten similar Events, which is now combined with the next ones as well.

## On your own server
Run the cases against any server, with a kubeconfig that contains a token or a client certificate of the group system:masters:

\`\`\`sh
node --conditions=kubewright-source --import tsx test/conformance/main.ts --kubeconfig ~/.kube/config
\`\`\`

\`--only\` and \`--skip\` are regular expressions for \`area/id\`. \`--diff\` shows every difference. Set \`--controllers\` if the server runs the
built-in controllers. \`--client-ca-cert\` and \`--client-ca-key\` specify a client CA that the server trusts. \`--peer URL\` sends every
second request to another server on the same etcd. Each case uses its own namespace or names and deletes the objects it created.
`
}
