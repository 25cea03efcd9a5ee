// Every file of config/ is edited in one way, and the edit is found in install.yaml, the chart and the bundle.
import { encodeYaml, parseManifests, parseYaml } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import { operator as home } from '../../examples/home/src/operator.ts'
import { bundleFiles } from '../../packages/cli/src/manifests/bundle-files.ts'
import { examplesOf } from '../../packages/cli/src/manifests/bundle-inputs.ts'
import { buildConfig } from '../../packages/cli/src/manifests/config-build.ts'
import { configFiles } from '../../packages/cli/src/manifests/config-files.ts'
import { chartFiles } from '../../packages/cli/src/manifests/helm-chart.ts'
import type { ManifestOptions } from '../../packages/cli/src/manifests/manifest-options.ts'
import { manifestsOf } from '../../packages/cli/src/manifests/manifests-of.ts'
import { describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'
import { type FilePlan, planFiles, textsAfter } from '../../packages/cli/src/manifests/plan-files.ts'

type Artifact = 'installer' | 'chart' | 'bundle'
type Fields = Record<string, unknown>

const operator = describeOperator(home)
const withAll: ManifestOptions = { certManager: true, prometheus: true, networkPolicy: true }

/** Builds all artifacts from config/ with one changed file, as `generate` does. */
function artifacts(path: string, text: string, options: ManifestOptions) {
  const present = manifestsOf(home, options)
  present.set(path, text)
  const files = configFiles(operator, options)
  const plans = planFiles({ files, present })
  const config = textsAfter(plans, present)
  const texts = (made: Iterable<readonly [string, { readonly text: string }]>): string =>
    [...made].map(([, file]) => file.text).join('\n')
  return {
    plan: plans.find((plan) => plan.path === path) as FilePlan,
    installer: buildConfig(config)
      .map(({ object }) => encodeYaml(object))
      .join('---\n'),
    chart: texts(chartFiles({ name: home.name, config })),
    bundle: texts(bundleFiles(operator, { config, version: '1.0.0', samples: examplesOf(operator, config) })),
  }
}

interface Edit {
  readonly change: (text: string) => string
  /** The text that the edit adds to artifacts. */
  readonly mark: string | RegExp | ((text: string) => boolean)
  /** The artifacts that cannot contain the edit, with the reason. */
  readonly except?: Partial<Record<Artifact, string>>
  readonly options?: ManifestOptions
}

const mark = 'edited-by-the-user'
const annotation = { 'example.com/edit': mark }

/** Changes the first object of a file. The heading is kept, as an editor would. */
const object = (change: (fields: Fields) => void) => (text: string) => {
  const [first, ...rest] = parseManifests(text) as Fields[]
  change(first!)
  return `${text.split('\n', 1)[0]}\n${[first!, ...rest].map((value) => encodeYaml(value)).join('---\n')}`
}
const annotated = object((fields) => {
  const metadata = fields['metadata'] as Fields
  metadata['annotations'] = { ...(metadata['annotations'] as object | undefined), ...annotation }
})
const withRule = object((fields) => {
  ;(fields['rules'] as object[]).push({ apiGroups: [mark], resources: ['things'], verbs: ['get'] })
})
/** Binds another role, whose rules can be recognized. */
const bound = object((fields) => {
  Object.assign(fields['roleRef'] as object, { kind: 'ClusterRole', name: 'home-viewer-role' })
})
// In a bundle, a bound role is part of the permissions of the ClusterServiceVersion, and no longer an object.
const boundMark = (text: string): boolean =>
  /^ {2}name: home-operator-home-viewer-role\nsubjects:/m.test(text) ||
  (text.includes('kind: ClusterServiceVersion') && !text.includes('name: home-operator-home-viewer-role'))
const appended = (more: string) => (text: string) => `${text}${more}`
const listed = (value: unknown) => (text: string) => {
  const list = parseYaml(text) as unknown[]
  return `${text.split('\n', 1)[0]}\n${encodeYaml([...list, value])}`
}
const annotations = appended(`commonAnnotations:\n  example.com/edit: ${mark}\n`)
const arg = { op: 'add', path: '/spec/template/spec/containers/0/args/-', value: `--${mark}` }
const inPod = (change: (pod: Record<string, Fields[]>) => void) =>
  object((fields) => change((fields as { spec: { template: { spec: Record<string, Fields[]> } } }).spec.template.spec))

const issued = 'OLM issues the certificates of webhooks'
const selfManaged: Pick<Edit, 'options' | 'except'> = { options: {}, except: { bundle: issued } }

const edits: Readonly<Record<string, Edit | 'derived'>> = {
  'config/certmanager/certificate-webhook.yaml': { change: annotated, mark, except: { bundle: issued } },
  'config/certmanager/injection_patch.yaml': { change: annotated, mark, except: { bundle: issued } },
  'config/certmanager/issuer.yaml': { change: annotated, mark, except: { bundle: issued } },
  'config/certmanager/kustomization.yaml': {
    change: (text) =>
      text.replace('patches:\n', `patches:\n- patch: '${JSON.stringify([arg])}'\n  target:\n    kind: Deployment\n`),
    mark,
  },
  'config/certmanager/kustomizeconfig.yaml': {
    // Without the reference, the name of the issuer is not changed.
    change: (text) => text.replace('issuerRef', 'otherRef'),
    mark: /issuerRef:\n {4}kind: Issuer\n {4}name: selfsigned-issuer/,
    except: { bundle: issued },
  },
  'config/certmanager/manager_args_patch.yaml': { change: listed(arg), mark },
  'config/certmanager/manager_volumes_patch.yaml': {
    change: inPod(({ volumes }) => void volumes!.push({ name: mark, emptyDir: {} })),
    mark,
  },
  'config/certmanager/self_managed_patch.yaml': {
    // The roles stay if they are not deleted.
    change: (text) =>
      text.replace('$patch: delete\n', '').replace('metadata:', `metadata:\n  annotations:\n    a: ${mark}`),
    mark,
    except: {
      bundle: 'the kept roles are bound to the operator, so their rules are in the bundle, but no annotations',
    },
  },
  'config/crd/bases/ajd.my.domain_homes.yaml': 'derived',
  'config/crd/kustomization.yaml': { change: annotations, mark },
  'config/crd/kustomizeconfig.yaml': {
    change: (text) => text.replace('clientConfig/service/name', 'clientConfig/service/other'),
    mark: /clientConfig:[\s\S]{0,200}? name: webhook-service\n/,
    except: { bundle: 'OLM names the service of webhooks' },
  },
  'config/crd/patches/webhook_in_ajd.my.domain_homes.yaml': {
    change: (text) => text.replace('/convert', `/${mark}`),
    mark,
  },
  'config/default/kustomization.yaml': { change: annotations, mark },
  'config/default/manager_metrics_patch.yaml': { change: listed(arg), mark },
  'config/default/manager_webhook_patch.yaml': {
    change: inPod(({ containers }) => void (containers![0]!['workingDir'] = `/${mark}`)),
    mark,
  },
  'config/default/metrics_service.yaml': { change: annotated, mark },
  'config/manager/kustomization.yaml': {
    change: (text) => text.replace('newName: controller', `newName: ${mark}`),
    mark,
  },
  'config/manager/manager.yaml': {
    change: (text) =>
      text.replace('        image:', `        env:\n        - name: A\n          value: ${mark}\n        image:`),
    mark,
  },
  'config/network-policy/allow-metrics-traffic.yaml': { change: annotated, mark },
  'config/network-policy/allow-webhook-traffic.yaml': { change: annotated, mark },
  'config/network-policy/kustomization.yaml': { change: annotations, mark },
  'config/prometheus/kustomization.yaml': { change: annotations, mark },
  'config/prometheus/monitor.yaml': { change: annotated, mark },
  'config/prometheus/monitor_tls_patch.yaml': {
    change: (text) => text.replace(/serverName: .*/, `serverName: ${mark}`),
    mark,
    except: { bundle: issued },
  },
  'config/prometheus/rules.yaml': { change: annotated, mark },
  'config/rbac/home_admin_role.yaml': { change: annotated, mark },
  'config/rbac/home_editor_role.yaml': { change: annotated, mark },
  'config/rbac/home_viewer_role.yaml': { change: annotated, mark },
  'config/rbac/kustomization.yaml': { change: annotations, mark },
  'config/rbac/leader_election_role.yaml': { change: withRule, mark },
  'config/rbac/leader_election_role_binding.yaml': {
    change: bound,
    mark: boundMark,
  },
  'config/rbac/metrics_auth_role.yaml': { change: withRule, mark },
  'config/rbac/metrics_auth_role_binding.yaml': {
    change: bound,
    mark: boundMark,
  },
  'config/rbac/metrics_reader_role.yaml': { change: withRule, mark },
  'config/rbac/role.yaml': 'derived',
  'config/rbac/role_binding.yaml': {
    change: bound,
    mark: boundMark,
  },
  'config/rbac/service_account.yaml': {
    change: annotated,
    mark,
    except: { bundle: 'OLM creates the service account' },
  },
  'config/rbac/webhook_cert_role.yaml': { change: withRule, mark, ...selfManaged },
  'config/rbac/webhook_cert_role_binding.yaml': { change: annotated, mark, ...selfManaged },
  'config/rbac/webhook_trust_role.yaml': 'derived',
  'config/rbac/webhook_trust_role_binding.yaml': { change: annotated, mark, ...selfManaged },
  'config/samples/ajd_v1_home.yaml': {
    change: annotated,
    mark,
    except: { installer: 'samples are not installed', chart: 'samples are not installed' },
  },
  'config/samples/kustomization.yaml': {
    change: annotations,
    mark,
    except: {
      installer: 'samples are not installed',
      chart: 'samples are not installed',
      bundle: 'examples are the files of samples',
    },
  },
  'config/webhook/kustomization.yaml': {
    change: appended(
      `patches:\n- patch: '[{"op": "add", "path": "/webhooks/0/objectSelector", "value": {"matchLabels": {"a": "${mark}"}}}]'\n  target:\n    kind: MutatingWebhookConfiguration\n`,
    ),
    mark,
  },
  'config/webhook/manifests.yaml': 'derived',
  'config/webhook/service.yaml': { change: (text) => text.replace('port: 443', 'port: 8444'), mark: /[pP]ort: 8444/ },
}

describe('an edit of config/', () => {
  test('is tested for every file', () => {
    const files = [...manifestsOf(home, withAll).keys()].filter((path) => path.startsWith('config/'))
    expect(Object.keys(edits).sort()).toEqual(files.sort())
  })

  test.each(Object.entries(edits))('of %s is in all artifacts', (path, edit) => {
    const {
      change,
      options = withAll,
      except = {},
      mark: wanted,
    } = edit === 'derived' ? { change: (text: string) => text.replace(/\n/, `\n# ${mark}\n`), mark } : (edit as Edit)
    const before = manifestsOf(home, options).get(path)!
    const changed = change(before)
    expect(changed).not.toBe(before)
    const made = artifacts(path, changed, options)
    if (edit === 'derived') {
      // The file follows from the code: the change is replaced, and generate reports it.
      expect(made.plan.action).toBe('replace')
      return
    }
    expect(made.plan.action).toBe('kept')
    const unchanged = artifacts(path, before, options)
    const has = (text: string): boolean =>
      typeof wanted === 'function'
        ? wanted(text)
        : typeof wanted === 'string'
          ? text.includes(wanted)
          : wanted.test(text)
    for (const artifact of ['installer', 'chart', 'bundle'] as const) {
      if (except[artifact] !== undefined) continue
      expect(has(made[artifact]), artifact).toBe(true)
      expect(has(unchanged[artifact]), `${artifact} without the edit`).toBe(false)
    }
  })
})
