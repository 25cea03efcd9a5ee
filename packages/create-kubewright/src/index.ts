export { type CreatePlan, planCreation } from './plan-creation.ts'
