import { describeLedgerAndBills } from './ledger-and-bills.ts';

describeLedgerAndBills(6);
