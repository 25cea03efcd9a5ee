import { buildCommand } from './build/build-command.ts'
import type { Command, CommandGroup } from './command/command.ts'
import { completionCommand } from './completion/completion-command.ts'
import { consoleCommand } from './console/console-command.ts'
import { crdCommand } from './crd-diff/crd-command.ts'
import { devCommand } from './dev/dev-command.ts'
import { doctorCommand } from './doctor/doctor-command.ts'
import { envtestCommand } from './envtest/envtest-command.ts'
import { explainCommand } from './explain/explain-command.ts'
import { importCommand } from './import/import-command.ts'
import { deployCommand } from './install/deploy-command.ts'
import { installCommand } from './install/install-command.ts'
import { undeployCommand } from './install/undeploy-command.ts'
import { uninstallCommand } from './install/uninstall-command.ts'
import { generateCommand } from './manifests/generate-command.ts'
import { migrateCommand } from './migrate/migrate-command.ts'
import { runOperatorCommand } from './run/run-operator-command.ts'
import { createCommand } from './scaffold/create-command.ts'
import { editCommand } from './scaffold/edit-command.ts'
import { initCommand } from './scaffold/init-command.ts'
import { upgradeCommand } from './scaffold/upgrade/upgrade-command.ts'
import { simulateCommand } from './simulate/simulate-command.ts'
import { backupCommand } from './store/backup-command.ts'
import { checkCommand } from './store/check-command.ts'
import { restoreCommand } from './store/restore-command.ts'
import { upCommand } from './up/up-command.ts'
import { validateCommand } from './validate/validate-command.ts'

/** Every command, in the order of the help. The definitions are light: each imports its implementation when it runs. */
export const allCommands: readonly (Command | CommandGroup)[] = [
  initCommand,
  createCommand,
  editCommand,
  upgradeCommand,
  generateCommand,
  buildCommand,
  devCommand,
  runOperatorCommand,
  simulateCommand,
  installCommand,
  uninstallCommand,
  deployCommand,
  undeployCommand,
  migrateCommand,
  upCommand,
  envtestCommand,
  backupCommand,
  restoreCommand,
  checkCommand,
  consoleCommand,
  importCommand,
  validateCommand,
  explainCommand,
  crdCommand,
  doctorCommand,
  completionCommand(() => allCommands),
]
