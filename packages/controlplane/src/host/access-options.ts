import type { AsyncDisposer, Clock, Logger } from '@kubewright/base'
import { type AccessControlOptions, AuthorizationChain, JwtAuthentication, TokenWebhook } from '@kubewright/server'
import type { AuthorizersConfig, JwtConfig } from '../config/access-config.ts'
import type { CompletedConfig } from '../config/completed-config.ts'
import { followConfig } from './follow-config.ts'

interface Parts {
  readonly clock: Clock
  readonly log: Logger
}

/** The access control that a configuration describes. What it starts ends with the disposer. */
export function accessOptions(
  { access = {}, clock, log }: CompletedConfig,
  disposer: AsyncDisposer,
): Omit<AccessControlOptions, 'serviceAccounts'> {
  const { authorization, jwt, tokenWebhook, serviceAccounts: _, clientCas: __, ...rest } = access
  const parts = { clock, log }
  return {
    ...rest,
    jwt: jwt && jwtAuthentication(jwt, parts, disposer),
    tokenWebhook: tokenWebhook && new TokenWebhook({ ...tokenWebhook, clock, log }),
    ...(authorization === undefined
      ? {}
      : {
          authorization:
            'authorizers' in authorization ? authorizationChain(authorization, parts, disposer) : authorization,
        }),
  }
}

/** Starts to authenticate ID tokens, and follows the file that describes their issuers. */
function jwtAuthentication(
  { issuers, algorithms, file }: JwtConfig,
  parts: Parts,
  disposer: AsyncDisposer,
): JwtAuthentication {
  const authentication = new JwtAuthentication(issuers, { algorithms, ...parts })
  if (file) disposer.use(followConfig('authentication', file, (next) => authentication.update(next), parts))
  // Runs before the disposal of the follower, which waits for an update in progress.
  return disposer.use(authentication)
}

/** Creates the chain of authorizers, and follows the file that describes it. */
function authorizationChain(
  { authorizers, connect, file }: AuthorizersConfig,
  parts: Parts,
  disposer: AsyncDisposer,
): AuthorizationChain {
  const chain = new AuthorizationChain(authorizers, { connect, ...parts })
  if (file) disposer.use(followConfig('authorization', file, (next) => chain.update(next), parts))
  return chain
}
