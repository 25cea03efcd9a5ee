import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { parseManifests } from '@kubewright/api'
import { configFiles } from '../manifests/config-files.ts'
import type { DescribedProject } from '../manifests/describe-project.ts'
import { installObjects } from '../manifests/install-objects.ts'
import type { Manifest } from '../manifests/manifest.ts'
import type { ManifestOptions } from '../manifests/manifest-options.ts'
import { planFiles } from '../manifests/plan-files.ts'
import { readFolders } from '../manifests/project-files.ts'

/** The objects of a deployment. */
export interface DeployedObjects {
  /** In an order in which they can be applied. */
  readonly objects: readonly Manifest[]
  /** The files of config/ that the user changed. */
  readonly changed: readonly string[]
}

/**
 * The objects that `deploy` applies: those that are derived from the code, or, if the user changed config/, those that kubectl builds from
 * it. The image of the options is used in both cases.
 */
export async function deployedObjects(
  { folder, operator }: DescribedProject,
  options: ManifestOptions,
): Promise<DeployedObjects> {
  const present = await readFolders(folder, ['config'])
  const plans = planFiles({ files: configFiles(operator, options), present })
  const changed = plans
    .filter(({ action, path }) => ['kept', 'outdated', 'stale'].includes(action) && !path.startsWith('config/samples/'))
    .map(({ path }) => path)
  if (changed.length === 0) return { objects: installObjects(operator, options), changed }
  const text = await kustomize(join(folder, 'config/default'), changed)
  const objects = (parseManifests(text) as Manifest[]).map((object) => withImage(object, options.image))
  return { objects: inOrder(objects), changed }
}

/** Sorts objects for applying: namespaces and CRDs before objects that need them, webhooks last because the API server calls them at once. */
function inOrder(objects: readonly Manifest[]): Manifest[] {
  const rank = ({ kind }: Manifest): number => {
    if (kind === 'Namespace') return 0
    if (kind === 'CustomResourceDefinition') return 1
    if (kind === 'ServiceAccount') return 2
    if (/Role(Binding)?$/.test(kind)) return 3
    return /WebhookConfiguration$/.test(kind) ? 5 : 4
  }
  return [...objects].sort((a, b) => rank(a) - rank(b))
}

interface PodTemplate {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly name: string }[] } }
  }
}

function withImage(object: Manifest, image: string | undefined): Manifest {
  if (object.kind !== 'Deployment' || image === undefined) return object
  // The user may have changed it, but kubectl has checked that it is a Deployment.
  const { spec } = object as unknown as PodTemplate
  const containers = spec.template.spec.containers.map((container) =>
    container.name === 'manager' ? { ...container, image } : container,
  )
  const template = { ...spec.template, spec: { ...spec.template.spec, containers } }
  return { ...object, spec: { ...spec, template } }
}

function kustomize(folder: string, changed: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('kubectl', ['kustomize', folder], { maxBuffer: 1 << 28 }, (error, out, errors) => {
      if (!error) return resolve(out)
      const what = `config/ has changes of yours (${changed.slice(0, 3).join(', ')}${changed.length > 3 ? ', …' : ''})`
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
      const why = isMissing
        ? 'and only kubectl can build it: install kubectl, or discard the changes with kubewright generate --force'
        : `and kubectl cannot build it: correct it, or discard the changes with kubewright generate --force\n${messageOf(errors)}`
      reject(new Error(`${what}, ${why}`, { cause: error }))
    })
  })
}

/** The message of kubectl, without the header of its log lines. */
function messageOf(text: string): string {
  const logged = /^[EF]\d{4} .*?\] "command failed" err=(".*")$/m.exec(text)?.[1]
  if (logged === undefined) return text.trim()
  try {
    return String(JSON.parse(logged))
  } catch {
    // Go's quoting has escapes that JSON does not have.
    return logged
  }
}
