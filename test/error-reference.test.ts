// docs/reference/errors.md lists every code that a package can throw, and nothing else. `npm test -- test/error-reference -u` rewrites it.
import { join } from 'node:path'
import { apiErrorCodes } from '@kubewright/api'
import { baseErrorCodes } from '@kubewright/base'
import { clientErrorCodes } from '@kubewright/client'
import { consoleErrorCodes } from '@kubewright/console'
import { controlplaneErrorCodes } from '@kubewright/controlplane'
import { runtimeErrorCodes } from '@kubewright/runtime'
import { storageErrorCodes } from '@kubewright/storage'
import { testingErrorCodes } from '@kubewright/testing'
import { expect, test } from 'vitest'
import { simulatorErrorCodes } from '../packages/simulator/src/error-codes.ts'

const tables = {
  base: baseErrorCodes,
  api: apiErrorCodes,
  client: clientErrorCodes,
  runtime: runtimeErrorCodes,
  storage: storageErrorCodes,
  controlplane: controlplaneErrorCodes,
  console: consoleErrorCodes,
  simulator: simulatorErrorCodes,
  testing: testingErrorCodes,
}

test('docs/reference/errors.md lists the codes of all packages', async () => {
  const sections = Object.entries(tables).map(([name, codes]) => {
    const rows = Object.entries(codes)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
    return [`## @kubewright/${name}`, '', '| code | meaning |', '|---|---|', ...rows].join('\n')
  })
  const page = `# Error codes

Every error that Kubewright itself defines is a \`KubewrightError\` with a \`code\`. Codes are stable; messages may get better.
What an API server answers is an \`ApiError\` (code \`KW_API\`) with the server's Status: tell these apart by their reason, with the
guards (\`isNotFound\`, \`isConflict\`, ...).

${sections.join('\n\n')}
`
  await expect(page).toMatchFileSnapshot(join(import.meta.dirname, '../docs/reference/errors.md'))
})
