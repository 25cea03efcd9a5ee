import { isDNS1123Label, UsageError } from '@kubewright/base'

/** The options of all manifests. */
export interface ManifestOptions {
  /** The namespace of the operator. @default `<name>-system` */
  readonly namespace?: string | undefined
  /** @default 'controller:latest' */
  readonly image?: string | undefined
  /** Whether cert-manager issues the certificate of the webhooks, instead of the operator. @default false */
  readonly certManager?: boolean | undefined
  /** Whether config/default includes config/prometheus. @default false */
  readonly prometheus?: boolean | undefined
  /** Whether config/default includes config/network-policy. @default false */
  readonly networkPolicy?: boolean | undefined
}

/** {@link ManifestOptions} with all defaults applied. */
export interface ResolvedOptions {
  readonly namespace: string
  readonly image: string
  readonly certManager: boolean
  readonly prometheus: boolean
  readonly networkPolicy: boolean
}

/** Applies defaults. Throws {@link UsageError} for values that no cluster accepts. */
export function resolveOptions(name: string, options: ManifestOptions): ResolvedOptions {
  const { namespace = `${name}-system`, image = 'controller:latest' } = options
  if (isDNS1123Label(namespace).length > 0) {
    throw new UsageError(
      `--namespace must be lower case letters, digits and dashes, such as "homes", not "${namespace}"`,
    )
  }
  if (!isImage(image))
    throw new UsageError(`--image must be a container image, such as example.com/homes:1.0, not "${image}"`)
  return {
    namespace,
    image,
    certManager: options.certManager ?? false,
    prometheus: options.prometheus ?? false,
    networkPolicy: options.networkPolicy ?? false,
  }
}

/** Whether a text has the form of a container image. */
export function isImage(text: string): boolean {
  return /^\w[\w./:@-]*$/.test(text)
}
