import { randomBytes } from 'node:crypto'
import {
  type Context,
  condition,
  defineController,
  defineOperator,
  defineResource,
  generateOnce,
  type Infer,
  type Operator,
  s,
} from 'kubewright'
import { Secret } from 'kubewright/k8s'

export const Account = defineResource({
  group: 'cloud.example.com',
  version: 'v1',
  kind: 'Account',
  spec: s.object({ plan: s.enum('free', 'paid').default('free') }),
  status: s.object({ conditions: s.conditions('Ready') }),
})
export type Account = Infer<typeof Account>

/** The part of the provider's API that the operator needs. All calls are idempotent. */
export interface Cloud {
  ensure(id: string, account: { plan: string; password: string }, options: { signal: AbortSignal }): Promise<void>
  /** Succeeds if there is no such account. */
  remove(id: string, options: { signal: AbortSignal }): Promise<void>
}

// The uid: a new object with the same name is another account.
const idOf = ({ metadata }: Account): string => metadata.uid

export type PasswordOf = (account: Account, context: Context<never>) => Promise<string>

export const passwordOf: PasswordOf = async (account, context) => {
  const { password } = await generateOnce(context, account, `${account.metadata.name}-login`, {
    password: () => randomBytes(16).toString('hex'),
  })
  return password
}

export function accountOperator(cloud: Cloud, password: PasswordOf = passwordOf): Operator {
  const controller = defineController(Account, {
    owns: [Secret],
    async reconcile(account, context) {
      const { signal } = context
      await cloud.ensure(
        idOf(account),
        { plan: account.spec.plan, password: await password(account, context) },
        { signal },
      )
      return { status: { conditions: [condition('Ready', true, 'Created')] } }
    },
    async cleanup(account, { signal }) {
      await cloud.remove(idOf(account), { signal })
    },
  })
  return defineOperator({ name: 'accounts', controllers: [controller], leaderElection: true })
}

/** The cloud in tests: keeps the accounts in memory. Counts the passwords that each account has had. */
export class FakeCloud implements Cloud {
  readonly accounts = new Map<string, { readonly plan: string; readonly password: string }>()

  async ensure(id: string, account: { plan: string; password: string }): Promise<void> {
    this.accounts.set(id, account)
  }

  async remove(id: string): Promise<void> {
    this.accounts.delete(id)
  }
}
