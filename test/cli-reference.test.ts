// docs/reference/cli.md describes every command and flag. `npm test -- test/cli-reference -u` rewrites it.
import { join } from 'node:path'
import { operatorFlags } from '@kubewright/runtime'
import { expect, test } from 'vitest'
import { allCommands } from '../packages/cli/src/all-commands.ts'
import { referencePage } from '../packages/cli/src/command/reference-page.ts'

test('docs/reference/cli.md equals the definitions of the commands', async () => {
  const page = referencePage(allCommands, operatorFlags)
  await expect(page).toMatchFileSnapshot(join(import.meta.dirname, '../docs/reference/cli.md'))
})
