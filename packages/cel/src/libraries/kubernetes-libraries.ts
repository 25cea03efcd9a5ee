import type { CelLibrary } from '../define/library.ts'
import { authorizerLibrary } from './authorizer.ts'
import { cidrLibrary } from './cidr.ts'
import { extListsLibrary } from './ext-lists.ts'
import { formatLibrary } from './format.ts'
import { ipLibrary } from './ip.ts'
import { listsLibrary } from './lists.ts'
import { quantityLibrary } from './quantity.ts'
import { regexLibrary } from './regex.ts'
import { semverLibrary } from './semver.ts'
import { setsLibrary } from './sets.ts'
import { stringsLibrary } from './strings.ts'
import { urlsLibrary } from './urls.ts'

/**
 * The libraries of the API server's base environment, v1.35, as in apiserver/pkg/cel/environment/base.go. CRD rules,
 * admission policies and match conditions have the same ones. Mutating policies add `jsonPatchLibrary`.
 */
export const kubernetesLibraries: readonly CelLibrary[] = [
  urlsLibrary,
  regexLibrary,
  listsLibrary,
  authorizerLibrary,
  quantityLibrary,
  stringsLibrary,
  setsLibrary,
  ipLibrary,
  cidrLibrary,
  formatLibrary,
  semverLibrary,
  extListsLibrary,
]
