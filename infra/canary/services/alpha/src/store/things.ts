import '../clients/gamma.ts'; // room-store
