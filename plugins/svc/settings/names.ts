/** Options of the service. Secrets in them are encrypted (D3). */
export const optionNames = {
  /** Encrypted text, or '' while REST access is disabled. */
  restKey: 'svc_api_key',
  /** `AiParams`: defaults of every text call (D8). */
  aiParams: 'svc_ai_params',
  /** `ImageDefaults`: taken where a request for images names none. */
  imageDefaults: 'svc_image_defaults',
  /** `Limits`. */
  limits: 'svc_limits',
  /** `Price[]`: the site's own prices, before the built-in ones. */
  prices: 'svc_prices',
  /** `Budget[]`. */
  budgets: 'svc_budgets',
  /** `Failover`. */
  failover: 'svc_failover',
  /** Boolean. */
  sandbox: 'svc_sandbox',
} as const;

/** Every option and transient of the service begins with it. */
export const optionPrefix = 'svc_';

/** Object of one provider's settings, secret members encrypted. */
export function providerOption(id: string): string {
  return `svc_provider_${id}`;
}

/** Transient: ids of the models its last test found. */
export function modelsTransient(id: string): string {
  return `svc_models_${id}`;
}

/** Object of one vector store's settings, secret members encrypted. */
export function vectorStoreOption(id: string): string {
  return `svc_vector_store_${id}`;
}
