import type { Command } from './command/command.ts'

/** Every command by name, in the order of the help; each is loaded only when it is called. */
export const commands: ReadonlyMap<string, { readonly summary: string; load(): Promise<Command> }> = new Map([
  [
    'init',
    {
      summary: 'Make a project for an operator in this folder',
      load: async () => (await import('./scaffold/init-command.ts')).initCommand,
    },
  ],
  [
    'create',
    {
      summary: 'Add a kind with its controller (api), or webhooks (webhook)',
      load: async () => (await import('./scaffold/create-command.ts')).createCommand,
    },
  ],
  [
    'edit',
    {
      summary: 'Change the settings of the project',
      load: async () => (await import('./scaffold/edit-command.ts')).editCommand,
    },
  ],
  [
    'generate',
    {
      summary: 'Write the manifests of an operator: CRDs, roles, webhooks and more',
      load: async () => (await import('./manifests/run-generate.ts')).generateCommand,
    },
  ],
  [
    'dev',
    {
      summary: 'Run an operator on its own control plane, and reload it on save',
      load: async () => (await import('./dev/run-dev.ts')).devCommand,
    },
  ],
  [
    'run',
    {
      summary: 'Run an operator against the cluster of the current kubeconfig',
      load: async () => (await import('./run/run-operator.ts')).runOperatorCommand,
    },
  ],
  [
    'install',
    {
      summary: 'Install the CRDs of an operator in the current cluster',
      load: async () => (await import('./install/run-install.ts')).installCommand,
    },
  ],
  [
    'uninstall',
    {
      summary: 'Remove the CRDs of an operator, and all their objects',
      load: async () => (await import('./install/run-uninstall.ts')).uninstallCommand,
    },
  ],
  [
    'deploy',
    {
      summary: 'Run an operator in the current cluster, with all that it needs',
      load: async () => (await import('./install/run-deploy.ts')).deployCommand,
    },
  ],
  [
    'undeploy',
    {
      summary: 'Remove an operator from the current cluster, CRDs included',
      load: async () => (await import('./install/run-undeploy.ts')).undeployCommand,
    },
  ],
  [
    'up',
    {
      summary: 'Start a Kubernetes control plane on this machine',
      load: async () => (await import('./up/run-up.ts')).upCommand,
    },
  ],
  [
    'import',
    {
      summary: 'Make TypeScript kinds of CRDs, from files or a cluster',
      load: async () => (await import('./import/run-import.ts')).importCommand,
    },
  ],
  [
    'validate',
    {
      summary: 'Check manifests as an API server would, without a cluster',
      load: async () => (await import('./validate/run-validate.ts')).validateCommand,
    },
  ],
  [
    'explain',
    {
      summary: 'Tell what fields a kind has, without a cluster',
      load: async () => (await import('./explain/run-explain.ts')).explainCommand,
    },
  ],
  [
    'crd',
    {
      summary: 'Tell which changes of CRDs break objects or clients',
      load: async () => (await import('./crd-diff/run-crd-diff.ts')).crdCommand,
    },
  ],
  [
    'doctor',
    {
      summary: 'Find out what keeps an operator from running, and the cure',
      load: async () => (await import('./doctor/run-doctor.ts')).doctorCommand,
    },
  ],
  [
    'completion',
    {
      summary: 'Print a script that has a shell complete commands and flags',
      load: async () => (await import('./completion/run-completion.ts')).completionCommand,
    },
  ],
])
