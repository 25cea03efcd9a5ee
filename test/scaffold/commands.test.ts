// What the commands of the scaffold write, keep and refuse.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kubewrightVersion, pinnedVersions } from '../../packages/cli/src/scaffold/pinned-versions.ts'
import { type TemporaryProject, temporaryProject } from './temporary-project.ts'

const home = ['--group', 'ajd', '--version', 'v1', '--kind', 'Home']
const webhooks = ['--kind', 'Home', '--defaulting', '--programmatic-validation']

/** A project with Home, as most tests want it. */
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

describe('the files', () => {
  test('of a kind with webhooks and two versions', async () => {
    const further = ['create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home']
    const conversion = ['create', 'webhook', '--kind', 'Home', '--version', 'v1', '--conversion', '--spoke', 'v2']
    using project = await homeProject(['create', 'webhook', ...webhooks], further, conversion)
    await expect(listing(project.files())).toMatchFileSnapshot('golden/home.txt')
  })

  test('of a ready operator for an image, in a group of its own', async () => {
    using project = temporaryProject('cache-operator')
    await project.kubewright('init', '--yes', '--multigroup', '--namespaced', '--license', 'none')
    const image = ['--image', 'memcached:1.6.26', '--image-container-port', '11211', '--run-as-user', '1001']
    await project.kubewright('create', 'api', '--group', 'cache', '--version', 'v1', '--kind', 'Memcached', ...image)
    const { 'package.json': _, README: __, ...files } = project.files()
    const own = Object.entries(files).filter(([path]) => path === 'PROJECT' || /^(?:src|config)\//.test(path))
    await expect(listing(Object.fromEntries(own))).toMatchFileSnapshot('golden/memcached.txt')
  })

  test('pin the versions that this repository is tested with', () => {
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
  test('writes the same files from PROJECT alone, whatever was done', async () => {
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

  test('makes what is missing, and offers what the user changed', async () => {
    using project = await homeProject()
    project.remove('src/main.ts')
    project.change('Makefile', 'IMG ?= controller:latest', 'IMG ?= mine:latest')
    const { out, notes } = await project.kubewright('init', '--replay')
    expect(out).toBe('offered   Makefile.new\ncreated   src/main.ts')
    expect(notes).toBe('Makefile has changes of yours: take over from Makefile.new what you want, and delete it')
    expect(project.read('Makefile')).toContain('mine:latest')
    expect(project.read('Makefile.new')).toContain('controller:latest')

    await project.kubewright('init', '--replay', '--force')
    expect(project.read('Makefile')).toContain('controller:latest')
  })
})

describe('what the user changed', () => {
  test('stays, while new parts are registered in the operator as it is', async () => {
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

  test('stays, and the user is told what to add, where the operator is written in another way', async () => {
    using project = await homeProject()
    project.change('src/operator.ts', 'controllers: [homeController]', 'controllers: Object.values(controllers)')
    const { code, notes, out } = await project.kubewright('create', 'api', '--kind', 'Lamp', '--version', 'v1')
    expect(code).toBe(0)
    expect(out).toContain('kept      src/operator.ts\n')
    expect(notes).toContain(`src/operator.ts is not written as expected, so please add:
  import { lampController } from './lamp.controller.ts'   and, in defineOperator:   controllers: [..., lampController]`)
  })

  test('is merged with changes elsewhere in the file, and offered beside it where both changed the same', async () => {
    using project = await homeProject(['create', 'webhook', '--kind', 'Home', '--defaulting'])
    project.change('src/home.webhook.ts', "'app.kubernetes.io/managed-by': 'my-home'", "'owner': 'me'")
    await project.kubewright('edit', '--owner', 'Somebody')
    expect(project.read('src/home.webhook.ts')).toMatch(/^\/\/ Copyright Somebody\n[\s\S]*'owner': 'me'/)

    project.change('src/home.webhook.ts', '  },\n})', "  },\n  failurePolicy: 'Ignore',\n})")
    const { out } = await project.kubewright('create', 'webhook', '--kind', 'Home', '--programmatic-validation')
    expect(out).toContain('offered   src/home.webhook.ts.new\n')
    expect(project.read('src/home.webhook.ts')).not.toContain('validate')
    expect(project.read('src/home.webhook.ts.new')).toContain('validate(home)')
  })

  test('stays deleted', async () => {
    using project = await homeProject()
    project.remove('Dockerfile')
    project.remove('src/home.test.ts')
    await project.kubewright('edit', '--owner', 'Somebody')
    await project.kubewright('create', 'webhook', ...webhooks)
    expect(Object.keys(project.files())).not.toEqual(expect.arrayContaining(['Dockerfile']))
    expect(Object.keys(project.files())).not.toEqual(expect.arrayContaining(['src/home.test.ts']))
  })

  test('is written again with --force, for the kind that is named', async () => {
    using project = await homeProject()
    const before = project.files()
    project.change('src/home.ts', 'foo', 'bar')
    project.change('README.md', 'An operator', 'My operator')
    expect((await project.kubewright('create', 'api', ...home, '--force')).out).toBe('updated   src/home.ts')
    expect(project.read('src/home.ts')).toBe(before['src/home.ts'])
    expect(project.read('README.md')).toContain('My operator')
  })

  test('of an npm project that was there first is completed', async () => {
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
  test('shows a diff and writes nothing', async () => {
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

describe('questions at the terminal', () => {
  test('have suggestions, and are asked again after an answer that cannot be', async () => {
    using project = temporaryProject('My Home')
    const init = await project.answer(['', 'example', 'example.com', 'n'], 'init')
    expect(init.questions).toEqual([
      'Name of the project [my-home]: ',
      'Domain that its groups end with [my.domain]: ',
      'Domain that its groups end with [my.domain]: ',
      'Run npm install now? [Y/n]: ',
    ])
    expect(init.notes).toBe(
      'This must be a domain that you own, such as "example.com", not "example"\nNext: npm install, then npx kubewright create api',
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
        'Make a controller? [Y/n]: ',
      ],
    })
    const webhook = await project.answer(['', 'y', 'no'], 'create', 'webhook')
    expect(webhook.questions).toEqual([
      'Kind [Home]: ',
      'Fill in what users leave out? [Y/n]: ',
      'Refuse what is wrong? [Y/n]: ',
    ])
    expect(project.read('PROJECT')).toContain('  webhooks:\n    defaulting: true\n    webhookVersion: v1\n')
  })

  test('are not asked with --yes or with flags', async () => {
    using project = temporaryProject()
    expect(await project.answer([], 'init', '--yes')).toMatchObject({ code: 0, questions: [] })
    expect(await project.answer([], 'create', 'api', '--kind', 'Home', '--yes')).toMatchObject({
      code: 0,
      questions: [],
    })
    expect(project.read('src/home.ts')).toContain("version: 'v1'")
  })
})

describe('mistakes', () => {
  const second = ['create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home']

  test.each([
    [['init', '--domain', 'k8s'], 2, '--domain must be a domain that you own, such as "example.com", not "k8s"'],
    [
      ['init', '--project-name', 'My Home'],
      2,
      '--project-name must be lower case letters, digits and dashes, such as "my-home", not "My Home"',
    ],
    [['init', '--license', 'mit'], 2, '--license must be apache2 or none, not "mit"'],
    [['init', '--domian', 'x'], 2, 'unknown option --domian: did you mean --domain?'],
    [['init', '--replay'], 2, '--replay needs a PROJECT file in this folder'],
    [
      ['create', 'api', ...home],
      1,
      'There is no PROJECT file in this folder: go to the project, or make one with kubewright init',
    ],
    [
      ['edit', '--multigroup'],
      1,
      'There is no PROJECT file in this folder: go to the project, or make one with kubewright init',
    ],
    [['create', 'apis'], 2, 'there is api and webhook, but no "apis"'],
    [['create'], 2, 'say what: api or webhook'],
  ])('in an empty folder: %j', async (args, code, notes) => {
    using project = temporaryProject()
    expect(await project.kubewright(...args)).toEqual({ code, out: '', notes, questions: [] })
    expect(project.files()).toEqual({})
  })

  test.each([
    [
      ['init'],
      1,
      'There is a project in this folder already, my-home: change it with kubewright edit, or write its files again with --replay',
    ],
    [['edit'], 2, 'say what to change: --multigroup, --namespaced, --owner or --license'],
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
      '--version must be such as v1, v1alpha1 or v2beta1, not "1"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--group', 'ajd.my.domain'],
      2,
      '--group is given without the domain my.domain: --group ajd',
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
      'Home (ajd.my.domain/v1) has the plural homes already: choose another one with --plural',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--namespaced=maybe'],
      2,
      '--namespaced must be true or false, not "maybe"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--no-resource', '--no-controller'],
      2,
      'nothing is left to create without a resource and without a controller',
    ],
    [
      ['create', 'api', ...home],
      1,
      'Home (ajd.my.domain/v1) exists already: choose another --version or --kind, or write its files again with --force',
    ],
    [
      ['create', 'api', ...home, '--resource=false'],
      1,
      'Home has a controller already: give a further one a name with --controller-name, or write it again with --force',
    ],
    [
      [...second, '--controller'],
      1,
      'Home has a controller already: say --controller=false, or give a further one a name with --controller-name, or write it again with --force',
    ],
    [
      [...second, '--namespaced=false'],
      2,
      '--namespaced must be as in version v1 of Home: it is the same for all versions',
    ],
    [
      [...second, '--plural', 'houses'],
      2,
      '--plural must be as in version v1 of Home: it is the same for all versions',
    ],
    [
      ['create', 'api', '--group', 'sea', '--kind', 'Ship', '--version', 'v1'],
      1,
      'The kinds of this project are in the group ajd.my.domain: to add a second one, run kubewright edit --multigroup first',
    ],
    [
      ['create', 'api', '--group', 'apps', '--kind', 'Deploymnt', '--version', 'v1', '--resource=false'],
      1,
      'Neither this project nor Kubernetes has Deploymnt (apps/v1): did you mean Deployment of apps/v1?',
    ],
    [
      ['create', 'api', '--group', 'acme', '--kind', 'Rocket', '--version', 'v1', '--resource=false'],
      1,
      'Neither this project nor Kubernetes has Rocket (acme/v1): for kinds of others give --external-api-path',
    ],
    [
      ['create', 'api', ...home, '--resource=false', '--controller-name', 'home'],
      1,
      'A controller of Home is named "home" already: choose another --controller-name',
    ],
    [
      ['create', 'api', ...home, '--resource=false', '--controller-name', 'A b'],
      2,
      '--controller-name must be lower case letters, digits and dashes, such as "home-backup", not "A b"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--run-as-user', '1'],
      2,
      '--image must be given with the flags about its containers',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--image', 'a', '--image-container-port', '0'],
      2,
      '--image-container-port must be a number from 1 to 65535, not "0"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--image', 'a', '--run-as-user', 'root'],
      2,
      '--run-as-user must be the number of a user, not "root"',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--image', 'a', '--namespaced=false'],
      2,
      '--image makes Deployments beside the objects, which must be in namespaces then: leave --namespaced out',
    ],
    [
      ['create', 'api', '--kind', 'Deployment', '--version', 'v1', '--image', 'a'],
      2,
      '--kind cannot be Deployment with --image, which makes Deployments',
    ],
    [
      [...second, '--image', 'a'],
      2,
      '--image makes a new kind and its controller: it goes neither with another version nor without one of them',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--external-api-domain', 'io'],
      2,
      '--external-api-path must be given with the flags about kinds of others',
    ],
    [['edit', '--owner', 'a\nb'], 2, '--owner must be one line of text'],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--external-api-path', "x'y"],
      2,
      '--external-api-path must be a file of the project or a package, such as src/certificate.ts',
    ],
    [
      ['create', 'api', '--kind', 'Lamp', '--version', 'v1', '--external-api-path', 'x', '--external-api-module', 'x'],
      2,
      '--external-api-module must be a package with its version, as name@1.2.3, not "x"',
    ],
    [
      ['create', 'webhook', '--kind', 'Home'],
      2,
      'say what for: --defaulting, --programmatic-validation or --conversion, or several of them',
    ],
    [
      ['create', 'webhook', '--kind', 'Lamp', '--defaulting'],
      1,
      'This project has no Lamp: make it with kubewright create api first, or give --external-api-path for a kind of others',
    ],
    [
      ['create', 'webhook', '--kind', 'Home', '--version', 'v2', '--defaulting'],
      1,
      'This project has no Home (v2): make it with kubewright create api first, or give --external-api-path for a kind of others',
    ],
    [
      ['create', 'webhook', '--kind', 'Home', '--conversion'],
      1,
      'Home has one version only, so there is nothing to convert: add one with kubewright create api first',
    ],
    [['create', 'webhook', '--kind', 'Home', '--defaulting', '--spoke', 'v2'], 2, '--spoke needs --conversion'],
    [
      ['create', 'webhook', '--kind', 'Home', '--defaulting', '--validation-path', '/x'],
      2,
      '--validation-path needs --programmatic-validation',
    ],
    [
      ['create', 'webhook', '--kind', 'Home', '--defaulting', '--defaulting-path', 'x'],
      2,
      '--defaulting-path must be a path such as /my-path, not "x"',
    ],
    [
      ['create', 'webhook', '--group', 'core', '--version', 'v1', '--kind', 'Pod', '--conversion'],
      2,
      '--conversion is for kinds that this project defines, which Pod is not',
    ],
    [['create', 'webhook', ...webhooks, '--output', 'yaml'], 2, '--output must be text or json, not "yaml"'],
  ])('in a project: %j', async (args, code, notes) => {
    using project = await homeProject()
    const before = project.files()
    expect(await project.kubewright(...args)).toEqual({ code, out: '', notes, questions: [] })
    expect(project.files()).toEqual(before)
  })

  test('with versions and hubs', async () => {
    using project = await homeProject(['create', 'webhook', ...webhooks], second)
    const webhook = async (...args: string[]) =>
      (await project.kubewright('create', 'webhook', '--kind', 'Home', ...args)).notes
    expect(await webhook('--conversion')).toBe('--version is needed, since Home has v1 and v2')
    expect(await webhook('--version', 'v1', '--conversion', '--spoke', 'v1,v3')).toBe(
      '--spoke must name other versions of Home (v2), not "v1, v3"',
    )
    expect(await webhook('--version', 'v1', '--defaulting')).toBe(
      'Home v1 has webhooks for defaulting already: write them again with --force',
    )
    expect(await webhook('--version', 'v2', '--defaulting')).toBe(
      'Version v1 of Home has webhooks, which requests in other versions are converted for: add to them with --version v1',
    )
    await webhook('--version', 'v1', '--conversion')
    expect(await webhook('--version', 'v2', '--conversion')).toBe(
      'Version v1 of Home is the hub already: make v2 the hub instead with --force',
    )
    expect(await webhook('--version', 'v2', '--conversion', '--force')).toBe(
      'Home is stored as v2 from now on, which is what its controllers see\nNext: npm test',
    )
    expect(project.read('src/home.conversion.ts')).toContain('spoke(Home.versions.v1, {')
    expect(project.read('src/home.webhook.ts')).toContain('defineWebhook(Home.versions.v1, {')
  })

  test('with groups', async () => {
    using project = await homeProject(['edit', '--multigroup'])
    await project.kubewright('create', 'api', '--group', 'sea', '--version', 'v1', '--kind', 'Home')
    expect((await project.kubewright('create', 'webhook', ...webhooks)).notes).toBe(
      '--group is needed, since ajd.my.domain and sea.my.domain have a Home',
    )
    expect((await project.kubewright('edit', '--multigroup=false')).notes).toBe(
      '--multigroup=false cannot be while there are kinds of several groups: ajd, sea',
    )
    expect((await project.kubewright('create', 'webhook', '--defaulting')).notes).toBe('--kind must be given')
    using taken = temporaryProject()
    await taken.kubewright('init', '--yes', '--domain', 'k8s.io')
    expect(
      (await taken.kubewright('create', 'api', '--group', 'networking', '--version', 'v1', '--kind', 'Net')).notes,
    ).toBe(
      'The group networking.k8s.io is taken by Kubernetes itself: choose another --group, or --resource=false for a controller of its kinds',
    )
  })

  test('in PROJECT', async () => {
    using project = temporaryProject()
    const edit = async (text: string): Promise<string> => {
      project.write('PROJECT', text)
      return (await project.kubewright('edit', '--multigroup')).notes
    }
    expect(await edit('')).toBe('PROJECT is empty: start again with kubewright init')
    expect(await edit('version: "2"')).toBe('PROJECT must have version: "3", not "2"')
    expect(await edit('version: "3"\nlayout: [go.kubebuilder.io/v4]')).toBe(
      'PROJECT has the layout ["go.kubebuilder.io/v4"], which another tool made: this one knows ts.kubewright.dev/v1',
    )
    expect(await edit('version: "3"\nlayout: [ts.kubewright.dev/v1]')).toBe('PROJECT needs a domain and a projectName')
    expect(await edit('a: [')).toMatch(/^PROJECT is no YAML: /)
  })
})
