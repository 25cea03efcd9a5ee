import { defaultRelease, kubernetes, type Release } from '@kubewright/k8s/releases'
import { releaseLoaders } from './generated/release-loaders.ts'
import { GoDeclarations } from './go-declarations.ts'
import { GoCodecs } from './json/go-codec.ts'
import { WireCodecs } from './protobuf/message-codecs.ts'
import { MessageTypes } from './protobuf/message-type.ts'

/** A release of Kubernetes as a server serves it: its facts, and the codecs of its Go types. Servers of one release share it. */
export class ServedRelease {
  readonly facts: Release
  readonly declarations: GoDeclarations
  /** JSON, as Go decodes and encodes it. */
  readonly json: GoCodecs
  readonly wire: WireCodecs
  readonly messages: MessageTypes

  constructor(facts: Release, goTypes: Readonly<Record<string, string>> = {}) {
    this.facts = facts
    this.declarations = new GoDeclarations(goTypes)
    this.json = new GoCodecs(this.declarations)
    this.wire = new WireCodecs(this.declarations)
    this.messages = new MessageTypes(facts)
  }
}

/** The release that is served by default. */
export const defaultServedRelease: ServedRelease = new ServedRelease(defaultRelease)

const served = new Map<Release, Promise<ServedRelease>>()

/** Returns a minor release such as `1.36`; servers of the same release share it. Throws a RangeError for other versions. */
export async function servedRelease(version?: string): Promise<ServedRelease> {
  const facts = await kubernetes(version)
  if (facts === defaultRelease) return defaultServedRelease
  let release = served.get(facts)
  if (!release) {
    const load = releaseLoaders[facts.version]!()
    served.set(facts, (release = load.then(({ changes }) => new ServedRelease(facts, changes))))
  }
  return release
}
