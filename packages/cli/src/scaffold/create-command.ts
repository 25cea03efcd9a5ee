import type { Command, CommandContext } from '../command/command.ts'
import { UsageError } from '../usage-error.ts'
import { createApiHelp, runCreateApi } from './run-create-api.ts'
import { createWebhookHelp, runCreateWebhook } from './run-create-webhook.ts'
import { type ScaffoldHost, systemScaffoldHost } from './scaffold-host.ts'

const help = `Usage: kubewright create WHAT [OPTIONS]

  api      A kind and its controller, or a further version of a kind
  webhook  Webhooks that default, validate or convert objects of a kind

kubewright create WHAT --help tells more.`

/** Adds to the project. */
export const createCommand: Command = {
  name: 'create',
  summary: 'Add a kind with its controller (api), or webhooks (webhook)',
  help,
  helpFor: ([what]) => (what === 'api' ? createApiHelp : what === 'webhook' ? createWebhookHelp : help),
  nameFor: ([what]) => (what === 'api' || what === 'webhook' ? `create ${what}` : 'create'),
  run: (args, context) => runCreate(args, context, systemScaffoldHost(context.env, context.signal)),
}

/** Carries out `create api` and `create webhook`. */
export async function runCreate(args: readonly string[], context: CommandContext, host: ScaffoldHost): Promise<number> {
  const [what, ...rest] = args
  if (what === 'api') return await runCreateApi(rest, context, host)
  if (what === 'webhook') return await runCreateWebhook(rest, context, host)
  throw new UsageError(what === undefined ? 'say what: api or webhook' : `there is api and webhook, but no "${what}"`)
}
