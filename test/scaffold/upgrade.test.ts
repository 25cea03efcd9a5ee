// `kubewright upgrade`: a project of an old version gets the files of this one.
import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kubewrightVersion } from '../../packages/cli/src/scaffold/pinned-versions.ts'
import { type TemporaryProject, temporaryProject } from './temporary-project.ts'

const old = '0.0.9'

/** A project that version 0.0.9 has scaffolded, with changes of the user. Its scaffold is in `base/` of another folder. */
async function oldProject(): Promise<{ project: TemporaryProject; base: TemporaryProject } & Disposable> {
  const project = temporaryProject()
  await project.kubewright('init', '--yes')
  await project.kubewright('create', 'api', '--group', 'ajd', '--version', 'v1', '--kind', 'Home')
  project.change('PROJECT', `cliVersion: ${kubewrightVersion}`, `cliVersion: ${old}`)
  // The differences of the old scaffold.
  project.change('package.json', '    "e2e": "vitest run --dir test/e2e",\n', '')
  project.change('package.json', /(?<="(?:kubewright|@kubewright\/\w+)": )"[^"]*"/g, `"${old}"`)
  project.change('Makefile', 'CONTAINER_TOOL ?= docker', 'CONTAINER_TOOL ?= podman')
  project.change('Dockerfile', 'ENV NODE_ENV=production\n', '')
  project.remove('test/e2e/operator.test.ts')
  project.write('hack/boilerplate.txt', 'old\n')
  const base = temporaryProject()
  for (const [path, text] of Object.entries(project.files())) base.write(path, text)
  return {
    project,
    base,
    [Symbol.dispose]() {
      project[Symbol.dispose]()
      base[Symbol.dispose]()
    },
  }
}

describe('kubewright upgrade', () => {
  test('merges the changes of the scaffold into the files of the user', async () => {
    using world = await oldProject()
    const { project, base } = world
    project.change('src/home.ts', 'foo: s.string', 'address: s.string')
    project.change('Makefile', 'Write the OLM bundle to bundle/.', 'Write my bundle.')
    project.change('package.json', '"version": "0.1.0"', '"version": "3.0.0"')
    project.remove('README.md')

    const { code, out, notes } = await project.kubewright('upgrade', '--base', base.folder)
    expect(code, notes).toBe(0)
    expect(out.split('\n').sort()).toEqual([
      'created   test/e2e/operator.test.ts',
      'merged    Makefile',
      'merged    package.json',
      'removed   hack/boilerplate.txt',
      'updated   Dockerfile',
      'updated   PROJECT',
    ])
    expect(notes).toBe(
      `Upgraded from ${old} to ${kubewrightVersion}. Next: npm install, npx kubewright generate and npm test`,
    )
    expect(project.read('Makefile')).toContain('\nCONTAINER_TOOL ?= docker\n')
    expect(project.read('Makefile')).toContain('Write my bundle.')
    expect(JSON.parse(project.read('package.json'))).toMatchObject({
      version: '3.0.0',
      scripts: { e2e: 'vitest run --dir test/e2e' },
      dependencies: { kubewright: kubewrightVersion },
    })
    expect(project.read('src/home.ts')).toContain('address: s.string')
    expect(project.read('PROJECT')).toContain(`cliVersion: ${kubewrightVersion}`)
    expect(await project.kubewright('upgrade')).toMatchObject({
      code: 0,
      notes: `Nothing to do: the project has the scaffold of ${kubewrightVersion}`,
    })
  })

  test('marks conflicts, and exits with 1', async () => {
    using world = await oldProject()
    const { project, base } = world
    project.change('Makefile', 'CONTAINER_TOOL ?= podman', 'CONTAINER_TOOL ?= nerdctl')
    project.change('package.json', `"kubewright": "${old}"`, '"kubewright": "file:../kubewright"')
    const dry = await project.kubewright('upgrade', '--base', base.folder, '--dry-run')
    expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('+<<<<<<< yours\n') as string })
    expect(project.read('Makefile')).not.toContain('<<<<<<<')

    const { code, out, notes } = await project.kubewright('upgrade', '--base', base.folder)
    expect(code).toBe(1)
    expect(out).toContain('conflict  Makefile')
    expect(notes).toContain('Makefile has a conflict: resolve the parts between <<<<<<< and >>>>>>>')
    expect(notes).toContain(
      `package.json: dependencies.kubewright stays "file:../kubewright", which you have set; ${kubewrightVersion} has "${kubewrightVersion}"`,
    )
    expect(project.read('Makefile')).toContain(
      `<<<<<<< yours\nCONTAINER_TOOL ?= nerdctl\n||||||| kubewright ${old}\nCONTAINER_TOOL ?= podman\n=======\nCONTAINER_TOOL ?= docker\n>>>>>>> kubewright ${kubewrightVersion}\n`,
    )
  })

  test('runs the installed old version to get its files, and refuses uncommitted changes', async () => {
    using world = await oldProject()
    const { project, base } = world
    // Stands for the installed old version: writes its scaffold into the current folder.
    const bin = 'node_modules/@kubewright/cli/old.js'
    project.write(
      'node_modules/@kubewright/cli/package.json',
      JSON.stringify({ version: old, bin: { kubewright: 'old.js' } }),
    )
    project.write(
      bin,
      `require('node:fs').cpSync(${JSON.stringify(base.folder)}, process.cwd(), { recursive: true })\n`,
    )
    chmodSync(join(project.folder, bin), 0o755)
    const git = (...args: string[]): void => void execFileSync('git', args, { cwd: project.folder, stdio: 'ignore' })
    git('init')
    expect(await project.kubewright('upgrade')).toMatchObject({
      code: 1,
      notes: 'the project has uncommitted changes: commit them, so that git diff shows the upgrade, or use --force',
    })
    git('add', '.')
    git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-m', 'init')
    expect(await project.kubewright('upgrade', '--output', 'json')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`"from": "${old}"`) as string,
    })
    expect(project.read('Makefile')).toContain('CONTAINER_TOOL ?= docker')
  })

  test('refuses a project of a newer version, and a base without PROJECT', async () => {
    using world = await oldProject()
    const { project } = world
    expect(await project.kubewright('upgrade', '--base', '..')).toMatchObject({
      code: 2,
      notes: `.. has no PROJECT file: run kubewright init --replay of version ${old} in it`,
    })
    expect(await project.kubewright('upgrade', '--from-version', '99.0.0')).toMatchObject({
      code: 2,
      notes: `the project has the scaffold of 99.0.0, which is newer than this version, ${kubewrightVersion}: run npx @kubewright/cli@latest upgrade`,
    })
  })
})
