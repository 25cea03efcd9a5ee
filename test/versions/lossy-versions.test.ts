// Versions of a kind with different fields and no conversion: every way to use them is refused.
import { defineResource, s } from 'kubewright'
import { startTestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'
import { CliProcess } from '../dev/cli-process.ts'
import { OperatorProject } from '../dev/operator-project.ts'

/** A project whose Home has two versions: the second one has another name for the color. */
function lossyProject(): OperatorProject {
  const project = new OperatorProject()
  project.edit(
    'src/home.ts',
    `  version: 'v1',
  kind: 'Home',
  spec: s.object({ color: s.string() }),
  status: s.object({ door: s.string() }),
`,
    `  kind: 'Home',
  versions: {
    v1: { storage: true, spec: s.object({ color: s.string() }), status: s.object({ door: s.string() }) },
    v1beta1: { spec: s.object({ paint: s.string() }), status: s.object({ door: s.string() }) },
  },
`,
  )
  return project
}

const refusal =
  /Cannot define operator "homes" as Home has versions with different fields and no conversion: from v1beta1 to v1, objects lose spec\.paint; from v1 to v1beta1, objects lose spec\.color\. Add a conversion/

describe('versions with different fields and no conversion', { timeout: 120_000 }, () => {
  test.each([[['generate']], [['generate', '--check']], [['dev', '--once']]])('are refused by %o', async (args) => {
    using project = lossyProject()
    await using command = await CliProcess.start(args, project.path)
    await command.line(refusal)
    expect(await command.exited).toBe(1)
  })

  test.each([[['generate']], [['dev', '--once']]])("are accepted by %o with conversion: 'none'", async (args) => {
    using project = lossyProject()
    project.edit('src/home.ts', '  versions: {', "  conversion: 'none',\n  versions: {")
    await using command = await CliProcess.start(args, project.path)
    await command.line(args[0] === 'dev' ? / homes {2}started in / : /config\/crd\/bases\/example\.com_homes\.yaml/)
    if (args[0] === 'generate') expect(await command.exited).toBe(0)
  })

  test('have the losses of their conversion reported by crd diff', async () => {
    using project = lossyProject()
    project.edit(
      'src/operator.ts',
      'export const operator',
      `import { defineConversion, spoke } from 'kubewright/conversion'

// Loses the status.
const conversion = defineConversion(Home, [
  spoke(Home.versions.v1beta1, {
    toHub: ({ spec }) => ({ spec: { color: spec.paint } }),
    fromHub: ({ spec }) => ({ spec: { paint: spec.color } }),
  }),
])

export const operator`,
    )
    project.edit('src/operator.ts', "  name: 'homes',", "  name: 'homes',\n  conversions: [conversion],")
    await using generate = await CliProcess.start(['generate'], project.path)
    expect(await generate.exited).toBe(0)
    const file = 'config/crd/bases/example.com_homes.yaml'
    await using diff = await CliProcess.start(['crd', 'diff', file, file, '--operator', '.'], project.path)
    await diff.line(/^ {2}breaking {2}v1 status: is lost when v1 is converted to v1beta1 and back$/)
    await diff.line(/^2 breaking, 0 warnings, 0 safe$/)
    expect(await diff.exited).toBe(1)
  })

  test('are refused by startTestEnv()', async () => {
    const Home = defineResource({
      group: 'example.com',
      kind: 'Home',
      versions: {
        v1: { storage: true, spec: s.object({ color: s.string() }) },
        v1beta1: { spec: s.object({ color: s.string(), size: s.int() }) },
      },
    })
    await expect(startTestEnv(undefined, { install: [Home] })).rejects.toThrow(
      'Cannot create CustomResourceDefinitions as Home has versions with different fields and no conversion: from v1beta1 to v1, objects lose spec.size. Add a conversion',
    )
  })
})
