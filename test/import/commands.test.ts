// Arguments, exit codes and output of import, validate, explain, crd diff and completion.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TemporaryFolder } from '../up/up-process.ts'
import { definitionOf } from './definition-of.ts'
import { runCli } from './run-cli.ts'

const crd = (maximum: number): string =>
  definitionOf(
    'Widget',
    'example.com',
    `{ size: { type: integer, maximum: ${maximum}, default: 2, description: How big it is. } }`,
    'Widget is what the factory makes.',
  )
const widget = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: a }\nspec: {}\n'

let folder: TemporaryFolder
let file: (name: string, text: string) => string
beforeEach(() => {
  folder = new TemporaryFolder()
  file = (name, text) => {
    const path = join(folder.path, name)
    writeFileSync(path, text)
    return path
  }
})
afterEach(() => folder[Symbol.dispose]())

describe('kubewright import', () => {
  test('writes a module for each kind, and prints how to import it', async () => {
    const out = join(folder.path, 'imported')
    const target = join(out, 'example.com/widget.ts')
    const { code, out: said, notes } = await runCli(['import', file('crd.yaml', crd(9)), '--out', out])
    expect(code).toBe(0)
    expect(said).toBe(`created   ${target}: Widget of example.com v1`)
    expect(notes).toContain('Use in src/: import { Widget } from ')
    expect(readFileSync(target, 'utf8')).toContain('size: s.int({ maximum: 9 }).default(2)')
    // The second import changes nothing; the third updates the module.
    expect((await runCli(['import', join(folder.path, 'crd.yaml'), '--out', out])).out).toContain('unchanged ')
    expect((await runCli(['import', file('crd.yaml', crd(8)), '--out', out])).out).toContain('updated   ')
  })

  test('prints the names and texts of a definition without their line ends', async () => {
    const hostile = '"Evil\\n::error::kind"'
    const text = crd(9)
      .replaceAll('kind: Widget', `kind: ${hostile}`)
      .replace(/^ {2}name: .*/m, `  name: ${hostile}`)
    const { code, out, notes } = await runCli([
      'import',
      file('crd.yaml', text),
      '--out',
      join(folder.path, 'imported'),
    ])
    expect(code).toBe(1)
    expect(notes).toContain('::error::kind')
    expect(`${out}\n${notes}`).not.toMatch(/^::error/m)
  })

  test('overwrites files that it did not write only with --force', async () => {
    const out = join(folder.path, 'imported')
    mkdirSync(join(out, 'example.com'), { recursive: true })
    const own = join(out, 'example.com/widget.ts')
    writeFileSync(own, 'export const mine = 1')
    const args = ['import', file('crd.yaml', crd(9)), '--out', out]
    const { code, notes } = await runCli(args)
    expect(code).toBe(1)
    expect(notes).toContain(`widgets.example.com is not imported: ${own} exists and was not written by import`)
    expect(readFileSync(own, 'utf8')).toBe('export const mine = 1')
    expect((await runCli([...args, '--force'])).code).toBe(0)
    expect(readFileSync(own, 'utf8')).toContain('defineResource')
  })

  test('writes nothing with --dry-run, and prints JSON with --output json', async () => {
    const out = join(folder.path, 'imported')
    const args = ['import', file('crd.yaml', crd(9)), '--out', out, '--dry-run', '--output', 'json']
    expect(JSON.parse((await runCli(args)).out)).toMatchObject({
      dryRun: true,
      kinds: [{ kind: 'Widget', group: 'example.com', versions: ['v1'], change: 'created', differences: [] }],
      failures: [],
    })
    expect(existsSync(out)).toBe(false)
  })

  test('imports the other files of a folder if one is invalid', async () => {
    file('crd.yaml', crd(9))
    file('template.yaml', crd(9).replaceAll('example.com', '{{ .Group }}'))
    const out = join(folder.path, 'imported')
    const { code, out: said, notes } = await runCli(['import', folder.path, '--out', out])
    expect(code).toBe(1)
    expect(said).toContain('Widget of example.com v1')
    expect(notes).toMatch(
      /template\.yaml:2 is not imported: .*; if it is a Helm template, import the output of helm template/,
    )
  })

  test('reports mistakes and failures in one line', async () => {
    expect(await runCli(['import'])).toMatchObject({ code: 2, notes: expect.stringContaining('FILE is missing') })
    expect(await runCli(['import', file('x.yaml', 'a: 1')])).toMatchObject({
      code: 1,
      notes: expect.stringContaining('there is no CustomResourceDefinition of apiextensions.k8s.io/v1 in'),
    })
    expect(await runCli(['import', file('x.yaml', 'a: [')])).toMatchObject({
      code: 1,
      notes: expect.stringContaining('x.yaml:1 is not imported: error converting YAML to JSON'),
    })
    expect(await runCli(['import', 'nowhere.yaml'])).toMatchObject({
      code: 1,
      notes: 'kubewright import: nowhere.yaml does not exist',
    })
    expect(await runCli(['import', file('c.yaml', crd(9)), '--versions', 'v2', '--out', folder.path])).toMatchObject({
      code: 1,
      notes: expect.stringContaining('has none of the versions v2: it has v1'),
    })
    expect((await runCli(['import', 'x', '--output', 'xml'])).code).toBe(2)
  })
})

describe('kubewright validate', () => {
  test('exits with 0 for valid manifests, and prints defaults with --show-defaults', async () => {
    const manifests = file('widget.yaml', widget)
    const { code, out, notes } = await runCli([
      'validate',
      manifests,
      '--crd',
      file('crd.yaml', crd(9)),
      '--show-defaults',
    ])
    expect(code).toBe(0)
    expect(out).toBe(`${manifests}:1: Widget default/a (example.com/v1) is valid\n  spec.size: 2`)
    expect(notes).toBe('1 object valid')
  })

  test('exits with 1 and the message of the server for an invalid manifest', async () => {
    const manifests = file('widget.yaml', widget.replace('{}', '{ size: 10 }'))
    const { code, out, notes } = await runCli(['validate', manifests, '--crd', file('crd.yaml', crd(9))])
    expect(code).toBe(1)
    expect(out).toBe(
      `${manifests}:1: Widget default/a (example.com/v1) is invalid\n` +
        '  spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9',
    )
    expect(notes).toBe('1 of 1 object invalid')
  })

  test('skips kustomizations', async () => {
    file('kustomization.yaml', 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n')
    file('map.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n')
    expect(await runCli(['validate', folder.path])).toMatchObject({ code: 0, notes: '1 object valid' })
  })

  test('prints JSON with --output json', async () => {
    const { out } = await runCli(['validate', file('w.yaml', widget), '--output', 'json'])
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      results: [
        { kind: 'Widget', name: 'a', line: 1, valid: false, message: expect.stringContaining('no matches for kind') },
      ],
    })
  })

  test('exits with 2 for mistakes in the arguments', async () => {
    expect(await runCli(['validate'])).toMatchObject({ code: 2, notes: expect.stringContaining('name the files') })
    expect((await runCli(['validate', 'x', '--validate', 'maybe'])).notes).toContain('must be strict, warn or ignore')
    expect((await runCli(['validate', 'x', '--old-crd', 'y'])).notes).toContain('--old-crd needs --old')
  })
})

describe('kubewright explain', () => {
  test('describes fields of CRDs and of built-in kinds', async () => {
    const { code, out } = await runCli(['explain', 'widget.spec.size', '--crd', file('crd.yaml', crd(9))])
    expect(code).toBe(0)
    expect(out).toContain('FIELD: size <integer>')
    expect(out).toContain('    How big it is.')
    expect((await runCli(['explain', 'Deployment.spec.replicas'])).out).toContain('FIELD: replicas <integer>')
    expect((await runCli(['explain', 'hpa', '--api-version', 'autoscaling/v1'])).out).toContain('VERSION:    v1\n')
    const { out: json } = await runCli(['explain', 'pods.spec.hostNetwork', '--output', 'json'])
    expect(JSON.parse(json)).toMatchObject({ type: 'boolean' })
  })

  test.each(['explain', 'validate'])('fails for %s if a file of --crd is invalid', async (command) => {
    const broken = file('broken.yaml', 'a: [')
    expect(await runCli([command, file('x.yaml', 'a: 1'), '--crd', broken])).toMatchObject({
      code: 1,
      out: '',
      notes: expect.stringMatching(/broken\.yaml:1: .*did not find expected/),
    })
  })

  test('names the fix for unknown kinds and fields', async () => {
    expect(await runCli(['explain', 'widgets'])).toMatchObject({
      code: 1,
      notes: expect.stringContaining('give its CRD with --crd, or use the CRD of a cluster with --cluster'),
    })
    expect(await runCli(['explain', 'pods.nope'])).toMatchObject({
      code: 1,
      notes: 'kubewright explain: field "nope" does not exist',
    })
    expect((await runCli(['explain'])).code).toBe(2)
    expect((await runCli(['explain', 'pods', '--cluster', '--crd', 'x'])).code).toBe(2)
    expect((await runCli(['explain', 'pods', '--crd', file('x.yaml', 'a: 1')])).notes).toContain('there is no CRD in')
  })
})

describe('kubewright crd diff', () => {
  test('exits with 1 for breaking changes, and with 0 otherwise', async () => {
    const [old, tight, loose] = [file('a.yaml', crd(9)), file('b.yaml', crd(8)), file('c.yaml', crd(10))]
    expect(await runCli(['crd', 'diff', old, tight])).toEqual({
      code: 1,
      out: 'widgets.example.com\n  breaking  v1 spec.size: maximum lowered from 9 to 8',
      notes: '1 breaking, 0 warnings, 0 safe',
    })
    expect(await runCli(['crd', 'diff', old, loose])).toEqual({
      code: 0,
      out: '',
      notes: '0 breaking, 0 warnings, 1 safe; --all shows the safe ones',
    })
    expect((await runCli(['crd', 'diff', old, loose, '--all'])).out).toContain('safe      v1 spec.size: maximum raised')
    expect((await runCli(['crd', 'diff', old, tight, '--fail-on', 'never'])).code).toBe(0)
    const other = file('d.yaml', crd(9).replace('default: 2', 'default: 3'))
    expect((await runCli(['crd', 'diff', old, other])).code).toBe(0)
    expect((await runCli(['crd', 'diff', old, other, '--fail-on', 'warning'])).code).toBe(1)
    expect(JSON.parse((await runCli(['crd', 'diff', old, tight, '--output', 'json'])).out)).toEqual({
      compatible: false,
      changes: [
        {
          severity: 'breaking',
          crd: 'widgets.example.com',
          version: 'v1',
          path: 'spec.size',
          message: 'maximum lowered from 9 to 8',
        },
      ],
    })
  })

  test('exits with 2 for mistakes in the arguments', async () => {
    expect((await runCli(['crd'])).notes).toContain('COMMAND is missing: give diff')
    expect((await runCli(['crd', 'dif'])).notes).toContain('unknown command "dif": did you mean diff?')
    expect((await runCli(['crd', 'diff'])).notes).toContain('OLD is missing: name the old and the new CRDs')
    expect((await runCli(['crd', 'diff', 'a'])).notes).toContain('NEW is missing: name the new CRDs')
    expect((await runCli(['crd', 'diff', 'a', 'b', '--cluster'])).notes).toContain('name the new CRDs only')
    expect((await runCli(['crd', 'diff', 'a', 'b', '--fail-on', 'x'])).code).toBe(2)
  })
})

describe('kubewright completion', () => {
  test.each(['bash', 'zsh', 'fish'])('prints a script for %s with every command', async (shell) => {
    const { code, out } = await runCli(['completion', shell])
    expect(code).toBe(0)
    for (const name of ['up', 'dev', 'import', 'validate', 'explain', 'crd', 'doctor']) expect(out).toContain(name)
  })

  test('refuses other shells', async () => {
    expect(await runCli(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      notes: expect.stringContaining('not "tcsh"'),
    })
    expect((await runCli(['completion'])).code).toBe(2)
  })
})
