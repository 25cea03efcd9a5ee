/** The parts of the name of a container image. */
export interface ImageParts {
  readonly repository: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

/** Splits the name of a container image. A colon before the last slash belongs to a port. */
export function imageParts(image: string): ImageParts {
  const [name = '', digest] = image.split('@')
  const colon = name.lastIndexOf(':')
  const hasTag = colon > name.lastIndexOf('/')
  return {
    repository: hasTag ? name.slice(0, colon) : name,
    tag: hasTag ? name.slice(colon + 1) : undefined,
    digest,
  }
}
