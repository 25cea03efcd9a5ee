import { buildConfig } from '../manifests/config-build.ts'
import { configFiles } from '../manifests/config-files.ts'
import type { DescribedProject } from '../manifests/describe-project.ts'
import type { Manifest } from '../manifests/manifest.ts'
import type { ManifestOptions } from '../manifests/manifest-options.ts'
import { planFiles, textsAfter } from '../manifests/plan-files.ts'
import { projectTexts, readFolders } from '../manifests/project-files.ts'

/** The objects of a deployment. */
export interface DeployedObjects {
  /** In an order in which they can be applied. */
  readonly objects: readonly Manifest[]
  /** The files of config/ that the user changed. */
  readonly changed: readonly string[]
}

/**
 * The objects that `deploy` applies: those of config/default as the user left it, with the files that are derived from the code up to date.
 * An image and a namespace replace those of config/.
 */
export async function deployedObjects(
  { folder, operator, facts }: DescribedProject,
  { image, namespace }: Pick<ManifestOptions, 'image' | 'namespace'> = {},
): Promise<DeployedObjects> {
  const present = await readFolders(folder, ['config'])
  const { chosen } = facts
  const options = { ...chosen, image: image ?? chosen.image, namespace: namespace ?? chosen.namespace }
  const plans = planFiles({ files: configFiles(operator, options), present })
  const changed = plans
    .filter(({ action, path }) => ['kept', 'outdated', 'stale'].includes(action) && !path.startsWith('config/samples/'))
    .map(({ path }) => path)
  const built = buildConfig(projectTexts(folder, textsAfter(plans, present)), { namespace })
  return { objects: built.map(({ object }) => withImage(object, image)), changed }
}

interface PodTemplate {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly name: string }[] } }
  }
}

function withImage(object: Manifest, image: string | undefined): Manifest {
  if (object.kind !== 'Deployment' || image === undefined) return object
  // The user may have changed it. The API server rejects a Deployment without containers.
  const { spec } = object as unknown as PodTemplate
  const containers = spec.template.spec.containers.map((container) =>
    container.name === 'manager' ? { ...container, image } : container,
  )
  const template = { ...spec.template, spec: { ...spec.template.spec, containers } }
  return { ...object, spec: { ...spec, template } }
}
