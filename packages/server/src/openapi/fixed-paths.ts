import type { ApiPath } from './api-operation.ts'
import { capitalized, metaDefinition, operationGroup, operationTag } from './definition-name.ts'

const served = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

/** The discovery path of a group, a version or all groups. */
export function discoveryPath(path: string, group: string, version: string): ApiPath {
  const [id, description, definition, tag] =
    version !== ''
      ? [
          `get${operationGroup(group)}${capitalized(version)}APIResources`,
          'get available resources',
          'APIResourceList',
          operationTag(group, version),
        ]
      : path === '/apis/'
        ? ['getAPIVersions', 'get available API versions', 'APIGroupList', 'apis']
        : path === '/api/'
          ? ['getCoreAPIVersions', 'get available API versions', 'APIVersions', 'core']
          : [`get${operationGroup(group)}APIGroup`, 'get information of a group', 'APIGroup', tagOf(group)]
  return fixed(path, id, description, metaDefinition(definition), tag, served)
}

/** Paths outside of API groups, by the name of their document. */
export const otherPaths: Readonly<Record<string, ApiPath>> = {
  version: fixed(
    '/version/',
    'getCodeVersion',
    'get the version information for this server',
    'io.k8s.apimachinery.pkg.version.Info',
    'version',
    ['application/json'],
  ),
  '.well-known/openid-configuration': fixed(
    '/.well-known/openid-configuration/',
    'getServiceAccountIssuerOpenIDConfiguration',
    'get the OpenID configuration of the issuer of service account tokens',
    'string',
    'WellKnown',
    ['application/json'],
  ),
  'openid/v1/jwks': fixed(
    '/openid/v1/jwks/',
    'getServiceAccountIssuerOpenIDKeyset',
    'get the public keys of the issuer of service account tokens',
    'string',
    'openid',
    ['application/jwk-set+json'],
  ),
}

function fixed(
  path: string,
  id: string,
  description: string,
  definition: string,
  tag: string,
  produces: readonly string[],
): ApiPath {
  const responses = { 200: definition }
  return {
    path,
    parameters: [],
    operations: [{ method: 'get', id, description, tag, parameters: [], responses, produces }],
  }
}

function tagOf(group: string): string {
  const name = operationGroup(group)
  return name[0]!.toLowerCase() + name.slice(1)
}
