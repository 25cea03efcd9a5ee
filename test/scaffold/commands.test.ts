// The files that init, create and edit write, keep and refuse to write.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kubewrightVersion, pinnedVersions } from '../../packages/cli/src/scaffold/pinned-versions.ts'
import { type TemporaryProject, temporaryProject } from './temporary-project.ts'

const home = ['--group', 'ajd', '--version', 'v1', '--kind', 'Home']
const webhooks = ['--kind', 'Home', '--defaulting', '--programmatic-validation']

/** A project with the kind Home, after further commands. */
async function homeProject(...more: string[][]): Promise<TemporaryProject> {
  const project = temporaryProject()
  for (const args of [['init', '--yes'], ['create', 'api', ...home], ...more]) {
    const { code, notes } = await project.kubewright(...args)
    if (code !== 0) throw new Error(`kubewright ${args.join(' ')}: ${notes}`)
  }
  return project
}

const listing = (files: Record<string, string>): string =>
  Object.entries(files)
    .map(([path, text]) => `=== ${path}\n${text}`)
    .join('\n')

describe('the scaffold', () => {
  test('has the golden files for a kind with webhooks and two versions', async () => {
    const further = ['create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home']
    const conversion = ['create', 'webhook', '--kind', 'Home', '--version', 'v1', '--conversion', '--spoke', 'v2']
    using project = await homeProject(['create', 'webhook', ...webhooks], further, conversion)
    await expect(listing(project.files())).toMatchFileSnapshot('golden/home.txt')
  })

  test('has the golden files for an operator that runs an image, in a multigroup project', async () => {
    using project = temporaryProject('cache-operator')
    await project.kubewright('init', '--yes', '--multigroup', '--namespaced', '--license', 'none')
    const image = ['--image', 'memcached:1.6.26', '--image-container-port', '11211', '--run-as-user', '1001']
    await project.kubewright('create', 'api', '--group', 'cache', '--version', 'v1', '--kind', 'Memcached', ...image)
    const { 'package.json': _, README: __, ...files } = project.files()
    const own = Object.entries(files).filter(([path]) => path === 'PROJECT' || /^(?:src|config)\//.test(path))
    await expect(listing(Object.fromEntries(own))).toMatchFileSnapshot('golden/memcached.txt')
  })

  test('pins the versions that this repository is tested with', () => {
    const root = join(import.meta.dirname, '../..')
    const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
    const { devDependencies } = read('package.json')
    expect({ ...pinnedVersions, typescript: `npm:typescript@${pinnedVersions['typescript']}` }).toEqual({
      '@types/node': devDependencies['@types/node'],
      tsx: devDependencies.tsx,
      typescript: devDependencies.ts7,
      vitest: devDependencies.vitest,
    })
    for (const name of ['kubewright', 'cli', 'testing']) {
      expect(read(`packages/${name}/package.json`).version).toBe(kubewrightVersion)
    }
  })
})

describe('init --replay', () => {
  test('writes the same files from PROJECT alone, after any commands', async () => {
    const steps = [
      ['create', 'webhook', ...webhooks, '--defaulting-path', '/my-defaults'],
      ['create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home'],
      ['create', 'webhook', '--kind', 'Home', '--version', 'v2', '--conversion'],
      ['create', 'api', '--group', 'ajd', '--version', 'v3', '--kind', 'Home'],
      ['create', 'api', '--kind', 'Home', '--version', 'v1', '--resource=false', '--controller-name', 'home-backup'],
      ['create', 'api', '--group', 'apps', '--version', 'v1', '--kind', 'Deployment', '--resource=false'],
      ['create', 'webhook', '--group', 'core', '--version', 'v1', '--kind', 'Pod', '--defaulting'],
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--image', 'lamp:1', '--image-container-port', '80'],
      ['edit', '--multigroup', '--namespaced', '--owner', 'Somebody'],
      ['create', 'api', '--group', 'sea', '--version', 'v1', '--kind', 'Home', '--controller=false'],
    ]
    using project = await homeProject(...steps)
    using copy = temporaryProject()
    copy.write('PROJECT', project.read('PROJECT'))
    expect(await copy.kubewright('init', '--replay')).toMatchObject({ code: 0, notes: '' })
    expect(copy.files()).toEqual(project.files())

    const again = await project.kubewright('init', '--replay')
    expect(again).toMatchObject({ code: 0, out: '' })
  })

  test('creates missing files, and offers new versions of changed ones', async () => {
    using project = await homeProject()
    project.remove('src/main.ts')
    project.change('Makefile', 'IMG ?= controller:latest', 'IMG ?= mine:latest')
    const { out, notes } = await project.kubewright('init', '--replay')
    expect(out).toBe('proposed  Makefile.new\ncreated   src/main.ts')
    expect(notes).toBe('Makefile has changes of yours: merge Makefile.new into it, then delete Makefile.new')
    expect(project.read('Makefile')).toContain('mine:latest')
    expect(project.read('Makefile.new')).toContain('controller:latest')

    await project.kubewright('init', '--replay', '--force')
    expect(project.read('Makefile')).toContain('controller:latest')
  })
})

describe('commands that change a file edited by the user', () => {
  test('keep the edits and add the registrations of new parts', async () => {
    using project = await homeProject()
    project.change('src/operator.ts', 'controllers: [homeController],', 'controllers: [homeController(dns)], // mine')
    project.change('src/home.ts', 'foo: s.string', 'address: s.string')
    const { out } = await project.kubewright('create', 'webhook', ...webhooks)
    expect(out).toContain('merged    src/operator.ts\n')
    const operator = project.read('src/operator.ts')
    expect(operator).toContain('  controllers: [homeController(dns)], // mine\n  webhooks: [homeWebhook],\n')

    await project.kubewright('create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home')
    expect(project.read('src/home.ts').match(/address: s\.string/g)).toHaveLength(2)
  })

  test('is kept with a hint if parts cannot be registered in it', async () => {
    using project = await homeProject()
    project.change('src/operator.ts', 'controllers: [homeController]', 'controllers: Object.values(controllers)')
    const { code, notes, out } = await project.kubewright('create', 'api', '--kind', 'Lamp', '--version', 'v1')
    expect(code).toBe(0)
    expect(out).toContain('kept      src/operator.ts\n')
    expect(notes).toContain(`src/operator.ts cannot be changed automatically, please add:
  import { lampController } from './lamp.controller.ts'   and, in defineOperator:   controllers: [..., lampController]`)
  })

  test('merge non-conflicting edits, and write FILE.new when edits conflict', async () => {
    using project = await homeProject(['create', 'webhook', '--kind', 'Home', '--defaulting'])
    project.change('src/home.webhook.ts', "'app.kubernetes.io/managed-by': 'my-home'", "'owner': 'me'")
    await project.kubewright('edit', '--owner', 'Somebody')
    expect(project.read('src/home.webhook.ts')).toMatch(/^\/\/ Copyright Somebody\n[\s\S]*'owner': 'me'/)

    project.change('src/home.webhook.ts', '  },\n})', "  },\n  failurePolicy: 'Ignore',\n})")
    const { out } = await project.kubewright('create', 'webhook', '--kind', 'Home', '--programmatic-validation')
    expect(out).toContain('proposed  src/home.webhook.ts.new\n')
    expect(project.read('src/home.webhook.ts')).not.toContain('validate')
    expect(project.read('src/home.webhook.ts.new')).toContain('validate(home)')
  })

  test('stays deleted if the user deleted it', async () => {
    using project = await homeProject()
    project.remove('Dockerfile')
    project.remove('src/home.test.ts')
    await project.kubewright('edit', '--owner', 'Somebody')
    await project.kubewright('create', 'webhook', ...webhooks)
    expect(Object.keys(project.files())).not.toEqual(expect.arrayContaining(['Dockerfile']))
    expect(Object.keys(project.files())).not.toEqual(expect.arrayContaining(['src/home.test.ts']))
  })

  test('is overwritten with --force if it belongs to the named kind', async () => {
    using project = await homeProject()
    const before = project.files()
    project.change('src/home.ts', 'foo', 'bar')
    project.change('README.md', 'A Kubernetes operator', 'My operator')
    expect((await project.kubewright('create', 'api', ...home, '--force')).out).toBe('updated   src/home.ts')
    expect(project.read('src/home.ts')).toBe(before['src/home.ts'])
    expect(project.read('README.md')).toContain('My operator')
  })

  test('is completed if it belongs to an existing npm project', async () => {
    using project = temporaryProject()
    project.write('package.json', '{\n    "name": "mine",\n    "scripts": { "test": "mocha" }\n}\n')
    project.write('README.md', '# Mine\n')
    await project.kubewright('init', '--yes')
    const manifest = JSON.parse(project.read('package.json'))
    expect(manifest).toMatchObject({ name: 'mine', type: 'module', scripts: { test: 'mocha', dev: 'kubewright dev' } })
    expect(project.read('package.json')).toContain('\n    "name"')
    expect(project.read('README.md')).toBe('# Mine\n')
    expect(project.read('README.md.new')).toMatch(/^# my-home\n/)
  })
})

describe('--dry-run', () => {
  test('prints a diff and writes nothing', async () => {
    using project = await homeProject()
    const before = project.files()
    const { out, notes } = await project.kubewright('create', 'webhook', ...webhooks, '--dry-run')
    expect(project.files()).toEqual(before)
    expect(notes).toBe('Nothing was written: 2 files would be new, 2 would change')
    expect(out).toContain(`--- src/operator.ts
+++ src/operator.ts
@@ -2,9 +2,11 @@
 
 import { defineOperator } from 'kubewright'
 import { homeController } from './home.controller.ts'
+import { homeWebhook } from './home.webhook.ts'
`)
    expect(out).toContain('--- /dev/null\n+++ src/home.webhook.ts\n@@ -0,0 +1,')
  })

  test('lists files for programs with --output json', async () => {
    using project = await homeProject()
    const { out } = await project.kubewright('create', 'webhook', ...webhooks, '--dry-run', '--output', 'json')
    expect(JSON.parse(out)).toEqual({
      dryRun: true,
      files: [
        { path: 'PROJECT', action: 'update' },
        { path: 'src/operator.ts', action: 'update' },
        { path: 'src/home.webhook.ts', action: 'create' },
        { path: 'src/home.webhook.test.ts', action: 'create' },
      ],
    })
  })
})

describe('init and create at a terminal', () => {
  test('have suggestions, and are repeated after an invalid answer', async () => {
    using project = temporaryProject('My Home')
    const init = await project.answer(['', 'example', 'example.com', 'n'], 'init')
    expect(init.questions).toEqual([
      'Name of the project [my-home]: ',
      'Domain of its API groups [my.domain]: ',
      'Domain of its API groups [my.domain]: ',
      'Run npm install now? [Y/n]: ',
    ])
    expect(init.notes).toBe(
      'The answer must be a domain that you own, such as "example.com", not "example"\nNext: npm install, then npx kubewright create api',
    )
    const api = await project.answer(['ajd', '', 'home', 'Home', '', ''], 'create', 'api')
    expect(api).toMatchObject({
      code: 0,
      questions: [
        'Group, the part before .example.com (may be empty): ',
        'Version [v1]: ',
        'Kind, in CamelCase: ',
        'Kind, in CamelCase: ',
        'Define the kind? [Y/n]: ',
        'Create a controller? [Y/n]: ',
      ],
    })
    const webhook = await project.answer(['', 'y', 'no'], 'create', 'webhook')
    expect(webhook.questions).toEqual(['Kind [Home]: ', 'Set defaults? [Y/n]: ', 'Validate objects? [Y/n]: '])
    expect(project.read('PROJECT')).toContain('  webhooks:\n    defaulting: true\n    webhookVersion: v1\n')
  })

  test('ask no questions with --yes or when flags give the values', async () => {
    using project = temporaryProject()
    expect(await project.answer([], 'init', '--yes')).toMatchObject({ code: 0, questions: [] })
    expect(await project.answer([], 'create', 'api', '--kind', 'Home', '--yes')).toMatchObject({
      code: 0,
      questions: [],
    })
    expect(project.read('src/home.ts')).toContain("version: 'v1'")
  })
})

describe('invalid input', () => {
  const second = ['create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home']

  test.each([
    [['init', '--domain', 'k8s'], 2, '--domain must be a domain that you own, such as "example.com", not "k8s"'],
    [
      ['init', '--project-name', 'My Home'],
      2,
      '--project-name must be lower case letters, digits and dashes, such as "my-home", not "My Home"',
    ],
    [['init', '--license', 'mit'], 2, '--license must be apache2 or none, not "mit"'],
    [['init', '--domian', 'x'], 2, 'unknown flag --domian: did you mean --domain?'],
    [['init', '--replay'], 2, '--replay needs a PROJECT file in this folder: go to the folder of the project'],
    [
      ['create', 'api', ...home],
      1,
      'there is no PROJECT file in FOLDER: go to the folder of the project, or run kubewright init',
    ],
    [
      ['edit', '--multigroup'],
      1,
      'there is no PROJECT file in FOLDER: go to the folder of the project, or run kubewright init',
    ],
    [['create', 'apis'], 2, 'unknown command "apis": did you mean api?'],
    [['create'], 2, 'COMMAND is missing: give api or webhook'],
  ])('in an empty folder are reported: %j', async (args, code, text) => {
    using project = temporaryProject()
    const notes = text.replace('FOLDER', project.folder)
    expect(await project.kubewright(...args)).toEqual({ code, out: '', notes, questions: [] })
    expect(project.files()).toEqual({})
  })

  test.each([
    [
      ['init'],
      1,
      'the folder already has a project, my-home: change it with kubewright edit, or write its files again with --replay',
    ],
    [['edit'], 2, 'nothing to change: give --multigroup, --namespaced, --owner or --license'],
    [
      ['create', 'api', '--kind', 'my-lamp', '--version', 'v1'],
      2,
      '--kind must be one word in CamelCase of 63 characters at most, such as "MyLamp", not "my-lamp"',
    ],
    [['create', 'api', '--kind', 'Lamp'], 2, '--version must be given'],
    [['create', 'api'], 2, '--kind and --version must be given'],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', '1'],
      2,
      '--version must have the form v1, v1alpha1 or v2beta1, not "1"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--group', 'ajd.my.domain'],
      2,
      '--group must not include the domain my.domain: write --group ajd',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--group', 'A_B'],
      2,
      '--group must be lower case letters, digits, dashes and dots, such as "apps", not "A_B"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--plural', 'Lamps'],
      2,
      '--plural must be lower case letters, digits and dashes, such as "homes", not "Lamps"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--plural', 'homes'],
      1,
      'Home (ajd.my.domain/v1) already has the plural homes: choose another one with --plural',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--namespaced=maybe'],
      2,
      '--namespaced must be true or false, not "maybe"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--no-resource', '--no-controller'],
      2,
      'nothing to create: drop --no-resource or --no-controller',
    ],
    [
      ['create', 'api', ...home],
      1,
      'Home (ajd.my.domain/v1) already exists: choose another --version or --kind, or overwrite its files with --force',
    ],
    [
      ['create', 'api', ...home, '--resource=false'],
      1,
      'Home already has a controller: name a further one with --controller-name, or overwrite it with --force',
    ],
    [
      [...second, '--controller'],
      1,
      'Home already has a controller: use --no-controller, name a further one with --controller-name, or overwrite it with --force',
    ],
    [
      [...second, '--namespaced=false'],
      2,
      '--namespaced must be the same as in version v1 of Home: all versions share it',
    ],
    [[...second, '--plural', 'houses'], 2, '--plural must be the same as in version v1 of Home: all versions share it'],
    [
      ['create', 'api', '--group', 'sea', '--kind', 'Ship', '--version', 'v1'],
      1,
      'the kinds of this project are in the group ajd.my.domain: run kubewright edit --multigroup before you add a second group',
    ],
    [
      ['create', 'api', '--group', 'apps', '--kind', 'Deploymnt', '--version', 'v1', '--resource=false'],
      1,
      'neither this project nor Kubernetes has Deploymnt (apps/v1): did you mean Deployment of apps/v1?',
    ],
    [
      ['create', 'api', '--group', 'acme', '--kind', 'Rocket', '--version', 'v1', '--resource=false'],
      1,
      'neither this project nor Kubernetes has Rocket (acme/v1): name its module with --external-api-path',
    ],
    [
      ['create', 'api', ...home, '--resource=false', '--controller-name', 'home'],
      1,
      'a controller of Home is already named "home": choose another --controller-name',
    ],
    [
      ['create', 'api', ...home, '--resource=false', '--controller-name', 'A b'],
      2,
      '--controller-name must be lower case letters, digits and dashes, such as "home-backup", not "A b"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--run-as-user', '1'],
      2,
      '--image is missing: --image-container-command, --image-container-port and --run-as-user need it',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--image', 'a', '--image-container-port', '0'],
      2,
      '--image-container-port must be a number from 1 to 65535, not "0"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--image', 'a', '--run-as-user', 'root'],
      2,
      '--run-as-user must be the number of a user, such as 1001, not "root"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--image', 'a', '--namespaced=false'],
      2,
      '--image creates Deployments in the namespace of each object: drop --no-namespaced',
    ],
    [
      ['create', 'api', '--kind', 'Deployment', '--version', 'v1', '--image', 'a'],
      2,
      '--kind must not be Deployment with --image, which creates Deployments: choose another name',
    ],
    [
      [...second, '--image', 'a'],
      2,
      '--image creates a new kind with its controller: it excludes further versions, --no-resource, --no-controller and --external-api-path',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--external-api-domain', 'io'],
      2,
      '--external-api-path is missing: the other --external-api flags need it',
    ],
    [['edit', '--owner', 'a\nb'], 2, '--owner must be one line of text, not "a\\nb"'],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--external-api-path', "x'y"],
      2,
      '--external-api-path must be a file of the project or a package, such as src/certificate.ts, not "x\'y"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--external-api-path', 'x', '--external-api-module', 'x'],
      2,
      '--external-api-module must be a package with its version, such as name@1.2.3, not "x"',
    ],
    [
      ['create', 'webhook', '--kind', 'Home'],
      2,
      'nothing to create: give --defaulting, --programmatic-validation or --conversion',
    ],
    [
      ['create', 'webhook', '--kind', 'Lamp', '--defaulting'],
      1,
      'this project has no Lamp: add it with kubewright create api, or name its module with --external-api-path',
    ],
    [
      ['create', 'webhook', '--kind', 'Home', '--version', 'v2', '--defaulting'],
      1,
      'this project has no Home (v2): add it with kubewright create api, or name its module with --external-api-path',
    ],
    [
      ['create', 'webhook', '--kind', 'Home', '--conversion'],
      1,
      'Home has only one version, so there is nothing to convert: add a version with kubewright create api',
    ],
    [
      ['create', 'webhook', '--kind', 'Home', '--defaulting', '--spoke', 'v2'],
      2,
      '--spoke needs --conversion: add --conversion, or drop --spoke',
    ],
    [
      ['create', 'webhook', '--kind', 'Home', '--defaulting', '--validation-path', '/x'],
      2,
      '--validation-path needs --programmatic-validation: add --programmatic-validation, or drop --validation-path',
    ],
    [
      ['create', 'webhook', '--kind', 'Home', '--defaulting', '--defaulting-path', 'x'],
      2,
      '--defaulting-path must be a path such as /my-path, not "x"',
    ],
    [
      ['create', 'webhook', '--group', 'core', '--version', 'v1', '--kind', 'Pod', '--conversion'],
      2,
      '--conversion needs a kind that this project defines, not Pod',
    ],
    [['create', 'webhook', ...webhooks, '--output', 'yaml'], 2, '--output must be text or json, not "yaml"'],
  ])('in a project are reported: %j', async (args, code, notes) => {
    using project = await homeProject()
    const before = project.files()
    expect(await project.kubewright(...args)).toEqual({ code, out: '', notes, questions: [] })
    expect(project.files()).toEqual(before)
  })

  test('with versions and hubs are reported', async () => {
    using project = await homeProject(['create', 'webhook', ...webhooks], second)
    const webhook = async (...args: string[]) =>
      (await project.kubewright('create', 'webhook', '--kind', 'Home', ...args)).notes
    expect(await webhook('--conversion')).toBe('--version is required because Home has v1 and v2')
    expect(await webhook('--version', 'v1', '--conversion', '--spoke', 'v1,v3')).toBe(
      '--spoke must name other versions of Home (v2), not "v1, v3"',
    )
    expect(await webhook('--version', 'v1', '--defaulting')).toBe(
      'Home v1 already has webhooks for defaulting: overwrite them with --force',
    )
    await webhook('--version', 'v1', '--conversion')
    expect(await webhook('--version', 'v2', '--conversion')).toBe(
      'version v1 of Home is already the hub: make v2 the hub with --force',
    )
    expect(await webhook('--version', 'v2', '--conversion', '--force')).toBe(
      'v2 is now the storage version of Home, and the version that its controllers receive\nNext: npm test',
    )
    expect(project.read('src/home.conversion.ts')).toContain('spoke(Home.versions.v1, {')
    expect(project.read('src/home.webhook.ts')).toContain('defineWebhook(Home.versions.v1, {')
  })

  test('are created for a second version, unless the user declines', async () => {
    using project = await homeProject(second)
    expect(project.read('src/home.conversion.ts')).toContain('spoke(Home.versions.v2, {')
    expect(project.read('src/home.conversion.test.ts')).toContain('checkConversion(homeConversion)')
    expect(project.read('src/operator.ts')).toContain('conversions: [homeConversion],')
    const third = [...second, '--no-conversion'].map((word) => (word === 'v2' ? 'v3' : word))
    expect(await project.kubewright(...third)).toMatchObject({
      code: 2,
      notes: '--no-conversion is impossible because the versions of Home are converted already',
    })

    using plain = await homeProject([...second, '--no-conversion'])
    expect(Object.keys(plain.files()).filter((path) => path.includes('conversion'))).toEqual([])
    expect(plain.read('PROJECT')).toContain('conversion: false')
    expect(await plain.kubewright('create', 'api', ...home, '--force', '--conversion')).toMatchObject({
      code: 2,
      notes: '--conversion needs a further version of a kind of this project: name another --version',
    })
    await plain.kubewright('create', 'webhook', '--kind', 'Home', '--version', 'v2', '--conversion')
    expect(plain.read('src/home.conversion.ts')).toContain('spoke(Home.versions.v1, {')
  })

  test('for a second version have files of their own', async () => {
    using project = await homeProject(second, [
      'create',
      'webhook',
      '--kind',
      'Home',
      '--version',
      'v1',
      '--defaulting',
    ])
    const webhook = (...args: string[]) => project.kubewright('create', 'webhook', '--kind', 'Home', ...args)
    expect(await webhook('--version', 'v2', '--programmatic-validation')).toMatchObject({
      code: 0,
      notes: 'Next: npm test',
    })
    const written = project.read('src/home.v2.webhook.ts')
    expect(written).toContain('export const homeV2Webhook = defineWebhook(Home.versions.v2, {')
    expect(written).toContain("matchPolicy: 'Exact',")
    expect(project.read('src/home.v2.webhook.test.ts')).toContain(
      'create(Home.versions.v2({ metadata: { name }, spec }))',
    )
    expect(project.read('src/operator.ts')).toContain('webhooks: [homeWebhook, homeV2Webhook]')
    expect(project.read('src/home.webhook.ts')).toContain('defineWebhook(Home, {')
    expect(project.read('config/samples/ajd_v2_home.yaml')).toContain('name: home-sample-v2\n')
  })

  test('for a version before the first one with webhooks are rejected', async () => {
    using project = await homeProject(second, [
      'create',
      'webhook',
      '--kind',
      'Home',
      '--version',
      'v2',
      '--defaulting',
    ])
    expect(
      (await project.kubewright('create', 'webhook', '--kind', 'Home', '--version', 'v1', '--defaulting')).notes,
    ).toBe(
      'version v2 of Home has webhooks, and requests in other versions are converted for them: extend them with --version v2',
    )
  })

  test('with groups are reported', async () => {
    using project = await homeProject(['edit', '--multigroup'])
    await project.kubewright('create', 'api', '--group', 'sea', '--version', 'v1', '--kind', 'Home')
    expect((await project.kubewright('create', 'webhook', ...webhooks)).notes).toBe(
      '--group is required because ajd.my.domain and sea.my.domain have a Home',
    )
    expect((await project.kubewright('edit', '--multigroup=false')).notes).toBe(
      '--no-multigroup is impossible because the project has kinds of several groups: ajd, sea',
    )
    expect((await project.kubewright('create', 'webhook', '--defaulting')).notes).toBe('--kind must be given')
    using taken = temporaryProject()
    await taken.kubewright('init', '--yes', '--domain', 'k8s.io')
    expect(
      (await taken.kubewright('create', 'api', '--group', 'networking', '--version', 'v1', '--kind', 'Net')).notes,
    ).toBe(
      'the group networking.k8s.io belongs to Kubernetes: choose another --group, or use --no-resource for a controller of its kinds',
    )
  })

  test('in the PROJECT file fails with the location and the reason', async () => {
    using project = temporaryProject()
    const edit = async (text: string): Promise<string> => {
      project.write('PROJECT', text)
      return (await project.kubewright('edit', '--multigroup')).notes
    }
    expect(await edit('')).toBe('PROJECT is empty: delete it and run kubewright init')
    expect(await edit('version: "2"')).toBe('PROJECT must have version: "3", not "2"')
    expect(await edit('version: "3"\nlayout: [go.kubebuilder.io/v4]')).toBe(
      'PROJECT has the layout ["go.kubebuilder.io/v4"] of another tool: kubewright supports ts.kubewright.dev/v1',
    )
    expect(await edit('version: "3"\nlayout: [ts.kubewright.dev/v1]')).toBe(
      'PROJECT must have a domain and a projectName',
    )
    expect(await edit('a: [')).toMatch(/^PROJECT is not valid YAML: /)
  })
})
