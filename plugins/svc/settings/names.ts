/** Options of the service. Secrets in them are encrypted (D3). */
export const optionNames = {
  /** Encrypted text, or '' while REST access is disabled. */
  restKey: 'svc_api_key',
  /** `AiParams`: defaults of every text call (D8). */
  aiParams: 'svc_ai_params',
  /** `ImageParams`: defaults of image requests. */
  imageDefaults: 'svc_image_defaults',
  /** `Limits`. */
  limits: 'svc_limits',
  /** Boolean. */
  sandbox: 'svc_sandbox',
} as const;

/** The prefix of every option and transient of the service. */
export const optionPrefix = 'svc_';

/** The settings of one provider, as an object. Secrets are encrypted. */
export function providerOption(id: string): string {
  return `svc_provider_${id}`;
}

/** Transient: the models that the last test of a provider found. */
export function modelsTransient(id: string): string {
  return `svc_models_${id}`;
}

/** The settings of one vector store, as an object. Secrets are encrypted. */
export function vectorStoreOption(id: string): string {
  return `svc_vector_store_${id}`;
}
