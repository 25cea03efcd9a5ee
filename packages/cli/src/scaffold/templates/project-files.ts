import { kubewrightVersion, nodeRelease, pinnedVersions } from '../pinned-versions.ts'
import { type Project, rightsOf } from '../project.ts'

/** The files of a new project that do not depend on its kinds, by path. */
export function projectFiles(project: Project): [path: string, text: string][] {
  return [
    ['package.json', packageJson(project)],
    ['tsconfig.json', tsconfig],
    ['.gitignore', gitignore],
    ['.dockerignore', dockerignore],
    ['Dockerfile', dockerfile],
    ['Makefile', makefile],
    ['.github/workflows/ci.yml', workflow],
    ['README.md', readme(project)],
  ]
}

function packageJson(project: Project): string {
  const { projectName, repo, resources = [] } = project
  const modules = resources.flatMap(({ module }) => module ?? []).map(nameAndVersion)
  const value = {
    name: projectName,
    version: '0.1.0',
    private: true,
    license: rightsOf(project).license === 'apache2' ? 'Apache-2.0' : 'UNLICENSED',
    ...repositoryOf(repo),
    type: 'module',
    engines: { node: '>=20.19' },
    kubewright: { operator: 'src/operator.ts' },
    scripts: {
      dev: 'kubewright dev',
      start: 'kubewright run',
      // Longer than anything in a test environment waits, which then tells what it waited for.
      test: 'vitest run --dir src --passWithNoTests --testTimeout=30000',
      generate: 'kubewright generate',
      typecheck: 'tsc --noEmit',
      build: 'tsc',
    },
    dependencies: Object.fromEntries([...modules, ['kubewright', kubewrightVersion]].sort(byName)),
    devDependencies: {
      '@kubewright/cli': kubewrightVersion,
      '@kubewright/testing': kubewrightVersion,
      ...pinnedVersions,
    },
    // Both work without: newer versions of npm run no such script that is not named here, and say so with every install.
    allowScripts: { esbuild: false, fsevents: false },
  }
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** A Go module that is nowhere is no repository. */
function repositoryOf(repo: string | undefined): { repository?: string } {
  if (repo === undefined || !/[./].*\//.test(repo)) return {}
  return { repository: /^[\w.-]+\.[a-z]+\//.test(repo) ? `https://${repo}` : repo }
}

const byName = ([a]: string[], [b]: string[]): number => (a! < b! ? -1 : 1)

/** `@scope/name@1.2.3` -> the name and the version. */
function nameAndVersion(module: string): [name: string, version: string] {
  const at = module.lastIndexOf('@')
  return at > 0 ? [module.slice(0, at), module.slice(at + 1)] : [module, '*']
}

const tsconfig = `{
  "compilerOptions": {
    "target": "es2022",
    "lib": ["es2023", "esnext.disposable"],
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "exactOptionalPropertyTypes": true,
    "noUncheckedIndexedAccess": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "rewriteRelativeImportExtensions": true,
    "skipLibCheck": true,
    "sourceMap": true,
    "rootDir": "src",
    "outDir": "dist"
  },
  "include": ["src"]
}
`

const gitignore = `node_modules/
dist/*
!dist/chart/
!dist/install.yaml
.kubewright/
*.tsbuildinfo
`

// Tests stay out of the image, and what is not sent cannot change the result.
const dockerignore = `*
!package.json
!package-lock.json
!tsconfig.json
!src
**/*.test.ts
`

// What the image gets is put together in one folder, in which nothing tells when that was: the same input makes the same layer.
const dockerfile = `ARG NODE_VERSION=${nodeRelease}

FROM node:\${NODE_VERSION}-bookworm-slim AS build
WORKDIR /image/app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
# Compiled, and without what only developers need; all of the same age, so that the same files make the same image.
RUN npm run build \\
  && npm prune --omit=dev --ignore-scripts \\
  && find node_modules -name '*.ts' -delete -o -name '*.d.ts.map' -delete \\
  && find node_modules -type d -empty -delete \\
  && rm -rf src tsconfig.json package-lock.json \\
  && find . -exec touch -h -d @0 {} +

# No shell, no package manager, and a user without rights.
FROM gcr.io/distroless/nodejs\${NODE_VERSION}-debian12:nonroot
COPY --from=build /image /
WORKDIR /app
ENV NODE_ENV=production
USER 65532:65532
# The arguments of the container are flags of the operator: --help shows them.
ENTRYPOINT ["/nodejs/bin/node", "--enable-source-maps", "dist/main.js"]
`

const makefile = `# Kubebuilder's targets, for those who type them: each is one command.
IMG ?= controller:latest
CONTAINER_TOOL ?= docker
PLATFORMS ?= linux/arm64,linux/amd64
KUBEWRIGHT ?= npx kubewright
# Further flags of run, dev, deploy, undeploy and uninstall, such as ARGS=--yes.
ARGS ?=

.PHONY: all help manifests generate vet install uninstall run dev test build docker-build docker-push docker-buildx deploy undeploy \\
  build-installer bundle
all: build

help: ## Show this.
	@awk 'BEGIN {FS = ":.*##"} /^[a-z-]+:.*##/ {printf "  %-16s%s\\n", $$1, $$2}' $(MAKEFILE_LIST)

node_modules: package.json
	npm install
	@touch node_modules

manifests: node_modules ## Write CRDs, RBAC, webhooks and the rest of config/.
	$(KUBEWRIGHT) generate

generate: manifests ## The same: there is no other generated code.

vet: node_modules ## Check types.
	npm run typecheck

install: node_modules ## Install the CRDs in the current cluster.
	$(KUBEWRIGHT) install

uninstall: node_modules ## Remove the CRDs, and with them all objects.
	$(KUBEWRIGHT) uninstall $(ARGS)

run: node_modules ## Run the operator here, against the current cluster.
	$(KUBEWRIGHT) run $(ARGS)

dev: node_modules ## Run the operator here with a control plane of its own.
	$(KUBEWRIGHT) dev $(ARGS)

test: vet ## Check types and run the tests.
	npm test

build: node_modules ## Compile to dist/.
	npm run build

docker-build: ## Build the image IMG.
	SOURCE_DATE_EPOCH=0 $(CONTAINER_TOOL) build -t $(IMG) .

docker-push: ## Push the image IMG.
	$(CONTAINER_TOOL) push $(IMG)

docker-buildx: ## Build and push the image IMG for PLATFORMS.
	SOURCE_DATE_EPOCH=0 $(CONTAINER_TOOL) buildx build --push --platform $(PLATFORMS) -t $(IMG) .

deploy: node_modules ## Run IMG in the current cluster.
	$(KUBEWRIGHT) deploy --image $(IMG) $(ARGS)

undeploy: node_modules ## Remove it, and the CRDs.
	$(KUBEWRIGHT) undeploy $(ARGS)

build-installer: node_modules ## Write dist/install.yaml for IMG.
	$(KUBEWRIGHT) generate --installer --image $(IMG)

bundle: node_modules ## Write bundle/ for OLM.
	$(KUBEWRIGHT) generate --bundle --image $(IMG)
`

const workflow = `name: CI
on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0
        with:
          persist-credentials: false
      - uses: actions/setup-node@a0853c24544627f65ddf259abe73b1d18a591444 # v5.0.0
        with:
          node-version: ${nodeRelease}
          cache: npm
      - run: npm ci
      - run: npm run typecheck
      - run: npm test
      # Manifests that are in the repository must be what the operator needs: npm run generate, and commit them.
      - if: hashFiles('config/crd/**') != ''
        run: npx kubewright generate --check
`

const readme = ({ projectName }: Project): string => `# ${projectName}

An operator for Kubernetes, made with Kubewright.

\`\`\`sh
npm install
npx kubewright create api --group demo --version v1 --kind Home   # src/home.ts and what belongs to it
npm test                                                          # on a control plane inside the test
npm run dev                                                       # the operator with a cluster of its own, reloaded on save
\`\`\`

\`npm run dev\` prints a kubeconfig for kubectl; then \`npm run generate\` and \`kubectl apply -k config/samples/\` create the examples.

| | |
|---|---|
| \`src/<kind>.ts\` | a kind: its schema is its type and its CRD |
| \`src/<kind>.controller.ts\` | what happens for each object of it |
| \`src/<kind>.webhook.ts\` | what is filled in and refused on the way in |
| \`src/operator.ts\` | all of them together |
| \`src/main.ts\` | the program that runs in the cluster |
| \`config/\` | manifests, written by \`npm run generate\`; the files in \`config/samples\` are yours |

On a cluster:

\`\`\`sh
npm run generate                             # CRDs, RBAC, webhooks, Deployment
npx kubewright install                       # the CRDs
npm start                                    # the operator here, against the current kubeconfig
make docker-build docker-push IMG=registry.example.com/${projectName}:0.1.0
make deploy IMG=registry.example.com/${projectName}:0.1.0
\`\`\`
`
